// Proves candidates one after another on one machine: the stages in order, with early return. The
// worker, the peaks and the judges are kept from one candidate to the next.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tdd/candidate.h"
#include "tdd/case.h"
#include "tdd/evaluation.h"
#include "tdd/runner.h"
#include "tdd/toolchain.h"

namespace kb {

struct ProofOptions {
  bool red = true;  // false: `known_red` stands in for the stages red and mutants
  Value known_red;  // of earlier evidence of the same case, candidate and toolchain
  bool sanitize = true;
  Value known_sanitize;  // likewise, of a stage that passed
  bool measure = true;
  std::string until;  // the last stage to do: "compile", "mutants"; "": all
  int trials = 3;     // of the case's tests, each with fresh inputs
};

struct ProofTools {
  std::shared_ptr<const Toolchain> toolchain;  // null: no kernel can be compiled
  std::string no_toolchain;                    // why it is null
  std::string arch = "sm_90a";                 // compiled for, where there is no GPU to ask
  std::string kb;                              // path of the kb binary, for the worker
  std::string driver;                          // "": libcuda.so.1
  bool compile_here = false;  // by `toolchain`, in this process, without a deadline: tests
  std::string judges_folder;
  std::string nnk_folder;  // entries to compare with
  std::string sanitizer;   // compute-sanitizer; "": none
  int workers = 4;         // on the GPU at once, for mutants
  std::string temp;        // scratch folders are made below it; "": see scratch.h
  std::function<void(std::string_view stage)> started;  // may be empty
  std::function<void(const StageReport& stage)> ended;  // may be empty
};

// Stages: check, compile, red (wrong kernels that our own mutants stand for; no GPU), green,
// mutants (faults planted in the candidate's source; after green, because the mutants of a wrong
// kernel prove nothing; both fill the section "red"), sanitize, measure, plausible, news.
// Without a GPU the stages from green on are SKIPPED("no device"), never passed.
class ProofSession {
 public:
  explicit ProofSession(ProofTools tools);
  ~ProofSession();
  ProofSession(const ProofSession&) = delete;
  ProofSession& operator=(const ProofSession&) = delete;

  // Never throws because of the case or the candidate.
  [[nodiscard]] Evaluation Prove(const std::string& case_folder,
                                 const std::string& candidate_folder, const ProofOptions& options);
  // The worker of this session, or null and why there is none.
  [[nodiscard]] Runner* runner(Verdict* why);
  [[nodiscard]] PeaksReply peaks();  // measured once

 private:
  struct State;
  class Proof;  // of one candidate
  std::unique_ptr<State> state_;
};

}  // namespace kb
