// The red stage: before a test may accept a right kernel it must reject wrong ones. First the
// wrong outputs that the judge itself makes (no GPU), then, once the candidate is known to be
// right, faults planted in its source, compiled and run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kb/value.h"
#include "tdd/candidate.h"
#include "tdd/case.h"
#include "tdd/equivalents.h"
#include "tdd/judge.h"
#include "tdd/mutate.h"
#include "tdd/runner.h"
#include "tdd/toolchain.h"

namespace kb {

enum class MutantFate {
  kKilled,
  kSurvived,
  kEquivalent,   // shown: the same machine code, or no output changed
  kDuplicate,    // the same machine code as another mutant
  kDeclared,     // survived, and the candidate's author says why it must
  kNotCompiled,  // or does not load
  kNotRun,
};
// "killed", "survived", "equivalent", "duplicate", "declared-equivalent", "not compiled",
// "not run".
[[nodiscard]] const char* MutantFateName(MutantFate fate);

struct MutantResult {
  std::string name;
  std::string kind;       // "builtin" or "source"
  std::string operation;  // of a source mutant
  int line = 0;           // of a source mutant
  std::string diff;       // of a source mutant
  MutantFate fate = MutantFate::kNotRun;
  std::vector<std::string> killed_by;  // tests; or "runtime", "timeout", "sanitizer" alone
  std::string note;                    // why it was not run, is equivalent, ...
  double cpu_s = 0;                    // compiling, and the judge's part of running
};

struct RedReport {
  Verdict verdict;  // kWeakTest below the threshold; kInfraError if too much was not run
  double threshold = 0.9;
  std::vector<std::string> tests;  // in the order of the case's test.cc
  std::vector<MutantResult> mutants;
  std::vector<std::string> findings;  // one line each: declared mutants that were killed, ...
  double cpu_s = 0, wall_s = 0;
  bool compiler_left_running = false;  // see compile_batch.h

  [[nodiscard]] int Count(MutantFate fate, std::string_view kind = "") const;  // "": both
  // killed / (killed + survived): of all, or of one kind. Nullopt: none of either.
  [[nodiscard]] std::optional<double> Score(std::string_view kind = "") const;
  [[nodiscard]] std::vector<std::string> UselessTests() const;  // that kill nothing
};

// How a case's tests are run; JudgedTests gives the real one.
struct CaseTests {
  std::vector<std::string> builtin_mutants;
  // All tests, none left out after a failure. Called from several threads at once.
  std::function<TestReport(const OutputSource& source, const std::string& builtin_mutant,
                           uint64_t seed, double timeout_s)>
      run;
};
[[nodiscard]] inline CaseTests JudgedTests(const std::string& judge, const Case& for_case,
                                           const std::string& temp) {
  return {BuiltinMutants(),
          [judge, for_case, temp](const OutputSource& source, const std::string& mutant,
                                  uint64_t seed, double timeout_s) {
            return RunTests(judge, for_case, source, mutant, seed, false, timeout_s, temp);
          }};
}

// The built-in mutants, on all cores. `timeout_s`: of each.
[[nodiscard]] RedReport ProveRed(const Case& for_case, const CaseTests& tests, uint64_t seed,
                                 double timeout_s = 120);

struct MutantOptions {
  std::shared_ptr<const Toolchain> toolchain;  // null: source mutants are left out, and it says so
  std::string arch;                            // as the candidate was compiled: "sm_90a"
  std::string binary;                          // the candidate's own cubin
  std::vector<RunPlan> plans;                  // one a check workload
  // A worker, or null. Called for each of `workers` at first and after a fault of the machine,
  // never twice at once. Empty: no GPU; all that compiles is then kNotRun.
  std::function<std::unique_ptr<Runner>()> start_runner;
  // May be empty. Asked for a mutant without a barrier that survived: luck hides races.
  std::function<bool(const Mutant& mutant, const std::string& cubin)> sanitizer_kills;
  std::vector<DeclaredEquivalent> declared;
  size_t limit = 60;  // source mutants
  int compilers = 0;  // threads; 0: one a core
  int workers = 4;
  int trials = 4;                  // of a mutant without a barrier, before it survives; others: one
  double compile_timeout_s = 120;  // of all together
  uint64_t seed = 0;               // private to this run
};

// Adds the source mutants of a `device` candidate to what ProveRed found. The candidate itself
// runs first: its times give the mutants' deadlines, and if it fails, none of them is run.
[[nodiscard]] RedReport ProveMutants(const Case& for_case, const Candidate& candidate,
                                     const CaseTests& tests, const MutantOptions& options,
                                     RedReport so_far);

// The section "red" of an evaluation: {"score", "builtin_score", "source_score", "threshold",
// "counts": {fate: n}, "tests", "useless_tests", "findings", "mutants": [{name, kind, operation,
// line, diff, status, killed_by, note, cpu_s}], "cpu_s", "wall_s"}. Scores: null if not known.
[[nodiscard]] Value ToValue(const RedReport& report);

}  // namespace kb
