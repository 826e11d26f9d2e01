// One batch of timed rounds: asked for, held against our clock, a sample of its outputs checked.
// For ProveMeasure alone.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tdd/measure.h"

namespace kb {

// What one workload is timed with.
struct MeasureSetting {
  const Case& for_case;
  const MeasuredProgram &baseline, &candidate;
  Runner& runner;
  JudgeSession& judge;
  const MeasureOptions& options;
  std::string scratch;
  std::mt19937_64 random;
  int next_set = 0;  // names sets for the judge, over all workloads
  [[nodiscard]] double Now() const;
  [[nodiscard]] bool host() const { return candidate.candidate->kind == CandidateKind::kHost; }
};

// Input sets of one workload, in files.
struct InputSets {
  std::vector<std::string> folders;
  std::vector<int> sets;  // the judge's names
  int64_t set_bytes = 0;
  Verdict verdict;
};

// A measurement under way.
struct MeasureState {
  Measurement m;
  MeasureRequest request;
  double round_s = 0;  // of the worker's loop
  double checking_s = 0;
  int rounds = 0;  // asked for so far, dropped ones too
  int batches = 0;
  bool done = false;
};

// A clock that lies is the candidate's doing only where its code runs beside the clock:
// REWARD_HACK(timer) for the host kind, else INFRA_ERROR.
[[nodiscard]] Verdict TimerVerdict(const MeasureSetting& setting, std::string message);

// `pilot`: to warm up and to learn `round_s`; its times are not kept.
[[nodiscard]] Verdict RunBatch(MeasureSetting& setting, const InputSets& inputs, int rounds,
                               bool pilot, MeasureState* state);

}  // namespace kb
