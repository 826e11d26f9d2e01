#include "tdd/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "kb/error.h"
#include "kb/file.h"
#include "tdd/judge_link.h"
#include "tdd/scratch.h"

namespace kb {
namespace {

constexpr size_t kMostLines = 10000;  // tests, comparisons
constexpr char kReference[] = "reference";

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What GoogleTest says in several lines, in one.
std::string JoinLines(std::string_view text) {
  std::string line;
  for (char c : text) {
    const bool space = c == '\n' || c == ' ';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return Printable(line);
}

// Listens to a judge until it has said all, and weighs what it said.
class TestRun {
 public:
  TestRun(const Case& for_case, const OutputSource& source, std::string mutant)
      : case_(for_case), source_(source), mutant_(std::move(mutant)) {}

  void Listen(JudgeLink* link, double timeout_s) {
    timeout_s_ = timeout_s;
    const double deadline = Now() + timeout_s;
    std::string line;
    while (!finished_ && !fault_ && link->Receive(&line, deadline - Now())) Hear(line, link);
    // What says no more ends by itself; what hangs is ended at the process's own deadline.
    const ProcessResult end = link->Wait();
    report_.wall_s = end.wall_s;
    report_.cpu_s = end.cpu_s;
    if (!finished_ && !fault_) fault_ = WhyItEnded(end);
  }

  [[nodiscard]] TestReport Report() {
    report_.verdict = Weigh();
    report_.verdict.message = JoinLines(report_.verdict.message);
    return std::move(report_);
  }

 private:
  void Hear(std::string_view line, JudgeLink* link) {
    const std::string kind = TakeWord(&line);
    if (kind == "in") {
      const std::string phase = TakeWord(&line);
      in_reference_ = phase == kReference;
      if (!line.empty()) test_ = line;
    } else if (kind == "run") {
      Run(line, link);
    } else if (kind == "compare") {
      Compare(line);
    } else if (kind == "test") {
      Test(line);
    } else if (kind == "wrong-shape") {
      if (wrong_shape_.empty()) wrong_shape_ = Unescape(line);
    } else if (kind == "weak") {
      if (weak_.empty()) weak_ = line;
    } else if (kind == "fault") {
      fault_ = ParseFault(line);
    } else if (kind == "finish") {
      finished_ = true;
      report_.runs = std::atoi(TakeWord(&line).c_str());
      changed_ = line == "changed";
    }
  }

  void Run(std::string_view words, JudgeLink* link) {
    const int workload = std::atoi(TakeWord(&words).c_str());
    in_source_ = true;
    const RunReply reply = source_(workload, std::string(words));
    if (!reply.verdict.passed() && run_verdict_.passed()) run_verdict_ = reply.verdict;
    const std::string why = reply.verdict.message.empty() ? VerdictName(reply.verdict)
                                                          : Printable(reply.verdict.message);
    if (link->Send(reply.verdict.passed() ? "done" : why)) in_source_ = false;
  }

  void Compare(std::string_view words) {
    const std::optional<Comparison> comparison = ParseComparison(case_.check, words);
    if (!comparison) return;
    nonfinite_ |= comparison->nonfinite > 0;
    if (report_.comparisons.size() < kMostLines) report_.comparisons.push_back(*comparison);
  }

  void Test(std::string_view words) {
    TestOutcome outcome;
    outcome.passed = TakeWord(&words) == "pass";
    outcome.name = TakeWord(&words);
    outcome.message = Unescape(words);
    if (!outcome.passed && failure_.empty()) failure_ = outcome.name + ": " + outcome.message;
    if (report_.tests.size() < kMostLines) report_.tests.push_back(std::move(outcome));
  }

  [[nodiscard]] Verdict WhyItEnded(const ProcessResult& end) const {
    const std::string where = in_reference_   ? "reference.cc"
                              : test_.empty() ? "the judge, before any test"
                                              : "test.cc, in " + test_;
    const Status blame =
        in_reference_ || test_.empty() ? Status::kInvalidReference : Status::kWeakTest;
    if (end.timed_out && in_source_) {
      return {Status::kTimeoutRun, "", fmt::format("the runs took over {:g} s", timeout_s_)};
    }
    if (end.timed_out) {
      return {blame, "", fmt::format("{} did not end within {:g} s", where, timeout_s_)};
    }
    if (end.too_much_output) return {blame, "", where + ": prints too much (over 1 MiB)"};
    if (end.exit_code > 128) {
      return {blame, "", fmt::format("{}: crashed (signal {})", where, end.exit_code - 128)};
    }
    return {blame, "", fmt::format("{}: ended the process (exit code {})", where, end.exit_code)};
  }

  // Faults of the case come before those of the candidate.
  [[nodiscard]] Verdict Weigh() const {
    if (fault_) return *fault_;
    if (!run_verdict_.passed()) return run_verdict_;
    if (!wrong_shape_.empty()) return {Status::kIncorrectShape, "", wrong_shape_};
    if (!weak_.empty()) return {Status::kWeakTest, "", weak_};
    const bool failed =
        report_.tests.empty() ||
        std::ranges::any_of(report_.tests, [](const TestOutcome& test) { return !test.passed; });
    const bool right = mutant_ == kReference || (!mutant_.empty() && !changed_);
    if (failed && right) {
      return {Status::kInvalidReference, "",
              "test.cc fails on the reference's own outputs: " + failure_};
    }
    if (failed) {
      return {nonfinite_ ? Status::kIncorrectNonfinite : Status::kIncorrectNumerical, "", failure_};
    }
    if (right && mutant_ != kReference) {
      return {Status::kSkipped, "equivalent", "this mutant changes none of the outputs"};
    }
    return {};
  }

  const Case& case_;
  const OutputSource& source_;
  const std::string mutant_;
  double timeout_s_ = 0;
  TestReport report_;
  std::optional<Verdict> fault_;
  Verdict run_verdict_;
  std::string wrong_shape_, weak_, failure_, test_;
  bool finished_ = false, changed_ = false, nonfinite_ = false;
  bool in_reference_ = false, in_source_ = false;
};

}  // namespace

const std::vector<std::string>& BuiltinMutants() {
  static const std::vector<std::string> mutants = {
      "no-op",        "zeros",        "constant",       "copy-input",
      "nan",          "dropped-tail", "last-block",     "off-by-one",
      "wrong-stride", "transposed",   "half-accumulate"};
  return mutants;
}

TestReport RunTests(const std::string& judge, const Case& for_case, const OutputSource& source,
                    const std::string& mutant, uint64_t seed, bool first_failure, double timeout_s,
                    const std::string& temp) {
  TestReport report;
  std::string why;
  const Scratch scratch(temp);
  const std::optional<std::vector<std::string>> lines =
      TaskLines(for_case, {false, seed, mutant, first_failure, scratch.path()}, &why);
  if (!lines) {
    report.verdict = {Status::kInvalidCase, "", why};
    return report;
  }
  try {
    JudgeLink link(judge, scratch.path(), timeout_s);
    TestRun run(for_case, source, mutant);
    for (const std::string& line : *lines) {
      if (!link.Send(line)) break;  // it has ended: Listen finds out why
    }
    run.Listen(&link, timeout_s);
    return run.Report();
  } catch (const Error& error) {
    report.verdict = {Status::kInfraError, "", error.what()};
    return report;
  }
}

}  // namespace kb
