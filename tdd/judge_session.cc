#include <fmt/format.h>

#include "kb/error.h"
#include "tdd/judge.h"
#include "tdd/judge_link.h"

namespace kb {
namespace {

constexpr double kLongestSessionS = 6 * 3600;
constexpr double kLongestAnswerS = 600;  // a reference of 4096^3 in double on few cores

class Session : public JudgeSession {
 public:
  Session(const std::string& judge, const Case& for_case, const std::string& temp)
      : case_(for_case), temp_(temp), link_(judge, temp, kLongestSessionS) {}

  [[nodiscard]] Verdict Begin(uint64_t seed) {
    std::string why;
    const auto lines = TaskLines(case_, {true, seed, "", false, temp_}, &why);
    if (!lines) return {Status::kInvalidCase, "", why};
    for (const std::string& line : *lines) {
      if (!link_.Send(line)) return Gone();
    }
    return Answer("ready", nullptr);
  }

  Verdict DrawInputs(int workload, int set, const std::string& folder) override {
    if (!link_.Send(fmt::format("draw {} {} {}", workload, set, folder))) return Gone();
    return Answer("ok", nullptr);
  }

  Verdict Check(int set, const std::string& folder, std::vector<Comparison>* comparisons) override {
    if (!link_.Send(fmt::format("check {} {}", set, folder))) return Gone();
    return Answer("ok", comparisons);
  }

 private:
  // Listens until the judge says `last`. The first fault wins.
  Verdict Answer(std::string_view last, std::vector<Comparison>* comparisons) {
    Verdict verdict;
    std::string line;
    while (link_.Receive(&line, kLongestAnswerS)) {
      std::string_view rest = line;
      const std::string kind = TakeWord(&rest);
      if (kind == last) return verdict;
      Verdict fault;
      if (kind == "fault") return ParseFault(rest);
      if (kind == "wrong-shape") fault = {Status::kIncorrectShape, "", Unescape(rest)};
      if (kind == "compare") fault = Weigh(rest, comparisons);
      if (verdict.passed()) verdict = fault;
    }
    return Gone();
  }

  Verdict Weigh(std::string_view words, std::vector<Comparison>* comparisons) const {
    const std::optional<Comparison> c = ParseComparison(case_.time, words);
    if (!c) return {Status::kInfraError, "", "the judge says what kb does not understand"};
    if (comparisons != nullptr) comparisons->push_back(*c);
    if (c->matched >= 1) return {};
    return {c->nonfinite > 0 ? Status::kIncorrectNonfinite : Status::kIncorrectNumerical, "",
            fmt::format("{}[{}] is {:.9g}, not {:.9g}, in a timed run on {}", c->output, c->worst,
                        c->got, c->want, c->workload)};
  }

  Verdict Gone() {
    link_.Kill();
    const ProcessResult end = link_.Wait();
    return {Status::kInvalidReference, "",
            fmt::format("the judge ended or gave no answer for {:g} s while it worked on a timed "
                        "workload (exit code {})",
                        kLongestAnswerS, end.exit_code)};
  }

  const Case case_;
  const std::string temp_;
  JudgeLink link_;
};

}  // namespace

std::unique_ptr<JudgeSession> StartJudge(const std::string& judge, const Case& for_case,
                                         uint64_t seed, const std::string& temp, Verdict* why) {
  try {
    auto session = std::make_unique<Session>(judge, for_case, temp);
    *why = session->Begin(seed);
    if (!why->passed()) return nullptr;
    return session;
  } catch (const Error& error) {
    *why = {Status::kInfraError, "", error.what()};
    return nullptr;
  }
}

}  // namespace kb
