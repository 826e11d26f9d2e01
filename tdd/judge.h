// The judge of a case: reference.cc, test.cc and GoogleTest in one static program that runs in a
// process of its own. It draws the inputs, asks for the candidate's outputs, and alone knows the
// right ones. Built where a C++ compiler is; needs none where it runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tdd/case.h"
#include "tdd/runner.h"
#include "tdd/status.h"

namespace kb {

// The folder `judges/` of the kb folder (made if need be); files are named by what they were made
// from, so a judge that was carried there with its case is found and no compiler is needed.
// Absolute path of the judge, built if it is not there yet by $CXX, c++, g++ or clang++, statically
// and without a shell. Verdicts: kInvalidReference (does not compile or link, with the compiler's
// first error; kTimeoutBuild if it takes too long), kSkipped("no compiler") (says what to
// install), kInfraError (the folder cannot be written). Several processes may build at once.
struct BuiltJudge {
  std::string path;
  Verdict verdict;
};
[[nodiscard]] BuiltJudge BuildJudge(const Case& for_case, const std::string& judges_folder);

// How far one output was from the reference, over all its elements.
struct Comparison {
  std::string workload, output;
  double max_abs = 0, max_rel = 0, max_ulp = 0;
  double matched = 1;        // share of elements within the tolerance
  int64_t worst = -1;        // flat index of the worst element; -1: none differs
  double got = 0, want = 0;  // there
  int64_t nonfinite = 0;     // NaN or infinite where the reference is finite
};

struct TestOutcome {
  std::string name;  // "Rmsnorm.MatchesReference"
  bool passed = false;
  std::string message;  // the first failure
};

struct TestReport {
  Verdict verdict;  // kPassed only if at least one test ran and all passed
  std::vector<TestOutcome> tests;
  std::vector<Comparison> comparisons;
  int runs = 0;  // how often the candidate was run
  double wall_s = 0, cpu_s = 0;
};

// What answers a judge that wants outputs: `folder` has in.<name>, and out.<name> is to be
// written for the outputs. `workload` is an index into Case::check.
using OutputSource = std::function<RunReply(int workload, const std::string& folder)>;

// Runs the case's GoogleTest tests. `mutant`: "", or "NAME" or "NAME:OUTPUT" with a name of
// BuiltinMutants(): then the outputs (or one) are the reference's own, spoilt in that way, and
// `source` is never asked: no GPU is needed. "reference": they are not spoilt; must pass.
// Stops at the first failed expectation if `first_failure`. The scratch folder is made below
// `temp`. Verdicts, the first that applies (a mutant is killed by kIncorrect... alone):
//   kInvalidReference    the reference throws, crashes, hangs, gives what the dtype cannot hold, or
//                        the same for all inputs (kind "input-independent"); or the tests fail on
//                        the reference's own outputs
//   kTimeoutRun          `timeout_s` went by while `source` was asked
//   kWeakTest            the tests crash, hang or print over 1 MiB
//   any                  of `source`'s first reply that is no pass; it is not asked again
//   kIncorrectShape      an out.<name> is missing or has the wrong size
//   kWeakTest            no test, one that skips, is disabled or never makes a Run; a Run whose
//                        outputs are not looked at; an output that none looks at; a check workload
//                        that is never run
//   kIncorrectNonfinite, kIncorrectNumerical    a test fails: with NaN or infinity, or without
//   kSkipped("equivalent")    the tests pass, and the mutant has changed no output
[[nodiscard]] TestReport RunTests(const std::string& judge, const Case& for_case,
                                  const OutputSource& source, const std::string& mutant,
                                  uint64_t seed, bool first_failure, double timeout_s,
                                  const std::string& temp);

// "no-op", "zeros", "constant", "copy-input", "nan", "dropped-tail", "last-block", "off-by-one",
// "wrong-stride", "transposed", "half-accumulate".
[[nodiscard]] const std::vector<std::string>& BuiltinMutants();

// A judge that stays: draws inputs for timed workloads and checks outputs of timed calls.
class JudgeSession {
 public:
  virtual ~JudgeSession() = default;
  // Draws fresh inputs of `time[workload]` into `folder` (made). `set` names them for Check; a set
  // that is drawn again is another one.
  [[nodiscard]] virtual Verdict DrawInputs(int workload, int set, const std::string& folder) = 0;
  // Compares out.<name> in `folder` with the reference on the inputs of `set`: kPassed,
  // kIncorrectShape, kIncorrectNonfinite, kIncorrectNumerical or kInvalidReference. The reference
  // is computed at the first check of a set and kept. `*comparisons` (may be null) gets one an
  // output, added at its end.
  [[nodiscard]] virtual Verdict Check(int set, const std::string& folder,
                                      std::vector<Comparison>* comparisons) = 0;
};
// Null and why. All folders that it is given lie below `temp`: it may write nowhere else.
[[nodiscard]] std::unique_ptr<JudgeSession> StartJudge(const std::string& judge,
                                                       const Case& for_case, uint64_t seed,
                                                       const std::string& temp, Verdict* why);

}  // namespace kb
