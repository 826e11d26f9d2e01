// The green stage: the right answers. The case's tests run against the candidate, several trials
// with fresh inputs each; every workload of the first trial runs twice to see whether the bits
// agree.
#pragma once

#include "tdd/case.h"
#include "tdd/evaluation.h"
#include "tdd/judge.h"
#include "tdd/runner.h"

namespace kb {

struct GreenOptions {
  int trials = 3;
  uint64_t seed = 0;       // private to this run
  double timeout_s = 120;  // of one trial
  std::string temp;        // scratch folders are made below it
};

// Asks `runner` for the outputs of `program` on the case's check workloads; `first`, if not null,
// gets the first verdict that was no pass, and `deterministic` whether all repeats agreed.
struct RunnerSource {
  Runner* runner = nullptr;
  int program = 0;
  const Case* of_case = nullptr;
  const std::vector<RunPlan>* plans = nullptr;  // one a check workload
  int repeats = 1;
  double timeout_s = 10;
};
struct SourceState {
  Verdict first;
  bool deterministic = true;
  double longest_us = 0;  // on the device
};
[[nodiscard]] OutputSource MakeSource(const RunnerSource& from, SourceState* state);

// "green": {"trials", "runs", "deterministic", "tests": [{name, passed, message}], "outputs":
// [{workload, output, max_abs, max_rel, max_ulp, matched, worst}]}: the worst over all trials.
[[nodiscard]] StageReport ProveGreen(const Case& for_case, const std::string& judge,
                                     const RunnerSource& from, const GreenOptions& options);

}  // namespace kb
