// What a trace must keep so that its lessons can be believed.
#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "kb/file.h"
#include "kb/lint_internal.h"
#include "kb/trace.h"

namespace kb {
namespace {

constexpr double kSpeedupTolerance = 0.01;  // relative; medians are written with few digits

template <size_t N>
bool IsOneOf(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool Agrees(double stated, double computed) {
  return std::abs(stated - computed) <= kSpeedupTolerance * std::abs(computed);
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

class TraceCheck {
 public:
  TraceCheck(const LintSource& source, const LintContext& context, LintReport& report)
      : source_(source),
        document_(source.document),
        front_(document_.front_matter),
        trace_(ParseTrace(document_)),
        context_(context),
        report_(report) {}

  void Run() {
    for (const Diagnostic& diagnostic : trace_.diagnostics) report_.Add(diagnostic);
    CheckFrontMatter();
    CheckIds();
    for (const Attempt& attempt : trace_.attempts) CheckAttempt(attempt);
    CheckCycles();
    CheckBest();
    for (const Lesson& lesson : trace_.lessons) CheckLesson(lesson);
    for (const HomePath& home : FindHomePaths(source_)) {
      report_.Add("trace-home-path", home.line, "names a person's home: " + Quoted(home.path));
    }
  }

 private:
  void CheckFrontMatter() {
    static constexpr std::string_view kRequired[] = {
        "kb", "id", "title", "task", "goal", "agent", "created", "result", "toolchain", "hardware"};
    for (std::string_view key : kRequired) {
      const Value& value = front_[key];
      if (!value.IsNull() && !(value.IsString() && Trim(value.AsString()).empty())) continue;
      report_.Add("trace-field", KeyLine(document_, key), "the trace has no " + Quoted(key));
    }
    const std::string version = front_["kb"].ToText();
    if (!version.empty() && version != "trace/1") {
      report_.Add("trace-version", KeyLine(document_, "kb"), "kb is " + Quoted(version));
    }
    CheckId();
    const std::string created = front_["created"].ToText();
    if (!created.empty() && !IsTimestamp(created)) {
      report_.Add("trace-created", KeyLine(document_, "created"),
                  Quoted(created) + " is no date and no RFC 3339 timestamp");
    }
    for (const Value& raw : front_["raw"].AsList()) {
      if (IsSha256(raw["sha256"].ToText())) continue;
      report_.Add("trace-raw", std::max(1, raw.line()), "a raw record without its SHA-256");
    }
  }

  void CheckId() {
    const std::string id = front_["id"].ToText();
    if (id.empty()) return;
    const std::string_view file = BaseName(document_.path);
    std::string_view stem = file.substr(0, file.rfind('.'));
    if (stem.ends_with(".trace")) stem.remove_suffix(6);
    if (!IsSafeName(id) || stem != id) {
      report_.Add("trace-id", KeyLine(document_, "id"),
                  "the id " + Quoted(id) + " is not the name of the file " + Quoted(file));
    }
  }

  // Fills attempts_: the first of each id.
  void CheckIds() {
    for (const Attempt& attempt : trace_.attempts) {
      if (attempt.id.empty()) {
        report_.Add("trace-attempt-id", attempt.line, "an attempt without an id");
      } else if (!attempts_.emplace(attempt.id, &attempt).second) {
        report_.Add("trace-attempt-id", attempt.line,
                    "the attempt id " + Quoted(attempt.id) + " is used twice");
      }
    }
    std::set<std::string> lessons;
    for (const Lesson& lesson : trace_.lessons) {
      if (!lesson.id.empty() && lessons.insert(lesson.id).second) continue;
      report_.Add("trace-lesson-id", lesson.line,
                  lesson.id.empty() ? "a lesson without an id"
                                    : "the lesson id " + Quoted(lesson.id) + " is used twice");
    }
  }

  const Attempt* Find(const std::string& id) const {
    const auto it = attempts_.find(id);
    return it == attempts_.end() ? nullptr : it->second;
  }

  void CheckAttempt(const Attempt& attempt) {
    if (attempt.derived) return;  // guessed from prose
    if (!attempt.parent.empty() && Find(attempt.parent) == nullptr) {
      report_.Add(
          "trace-parent", attempt.line,
          "the parent " + Quoted(attempt.parent) + " of " + Quoted(attempt.id) + " does not exist");
    }
    static constexpr std::string_view kDecisions[] = {"keep", "revert", "branch", "abandon",
                                                      "park"};
    if (!attempt.decision.empty() && !IsOneOf(attempt.decision, kDecisions)) {
      report_.Add("trace-vocabulary", attempt.line,
                  "decision is " + Quoted(attempt.decision) +
                      ", not keep, revert, branch, abandon or park");
    }
    CheckPerformance(attempt);
  }

  void CheckPerformance(const Attempt& attempt) {
    const bool timed = attempt.median_us || attempt.speedup;
    if (timed && attempt.status != "PASSED") {
      report_.Add("trace-performance", attempt.line,
                  Quoted(attempt.id) + " has a time, but its tests are " +
                      (attempt.status.empty() ? "not stated" : Quoted(attempt.status)));
    }
    if (attempt.median_us && !(*attempt.median_us > 0 && std::isfinite(*attempt.median_us))) {
      report_.Add("trace-speedup", attempt.line,
                  "the median of " + Quoted(attempt.id) + " is " + Number(*attempt.median_us));
      return;
    }
    if (!attempt.speedup || !attempt.median_us || !attempt.baseline_us) return;
    const double computed = *attempt.baseline_us / *attempt.median_us;
    if (!Agrees(*attempt.speedup, computed)) {
      report_.Add("trace-speedup", attempt.line,
                  "the speedup of " + Quoted(attempt.id) + " is " + Number(*attempt.speedup) +
                      ", but baseline / median is " + Number(computed));
    }
  }

  // Walks up from each attempt; each is walked through once.
  void CheckCycles() {
    std::unordered_map<const Attempt*, const Attempt*> walked;  // attempt -> where the walk began
    for (const auto& [id, start] : attempts_) {
      const Attempt* at = start;
      while (at != nullptr && walked.emplace(at, start).second) at = Find(at->parent);
      if (at != nullptr && walked[at] == start) {
        report_.Add("trace-cycle", at->line, Quoted(at->id) + " is its own ancestor");
      }
    }
  }

  void CheckBest() {
    const int line = KeyLine(document_, "result");
    const Value& result = front_["result"];
    if (trace_.best.empty()) return;
    const Attempt* best = Find(trace_.best);
    if (best == nullptr) {
      report_.Add("trace-best", line,
                  "the best attempt " + Quoted(trace_.best) + " does not exist");
      return;
    }
    if (!best->derived && best->status != "PASSED") {
      report_.Add("trace-best", line, "the best attempt " + Quoted(trace_.best) + " did not pass");
    }
    if (result["speedup"].IsNumber() && best->speedup &&
        !Agrees(result["speedup"].AsDouble(), *best->speedup)) {
      report_.Add("trace-result", line,
                  "result.speedup is " + Number(result["speedup"].AsDouble()) + ", that of " +
                      Quoted(trace_.best) + " is " + Number(*best->speedup));
    }
  }

  void CheckLesson(const Lesson& lesson) {
    static constexpr std::string_view kConfidence[] = {"measured", "replicated", "inferred",
                                                       "reported"};
    if (lesson.claim.empty()) {
      report_.Add("trace-lesson-claim", lesson.line,
                  "the lesson " + Quoted(lesson.id) + " has no claim");
    }
    if (!IsOneOf(lesson.confidence, kConfidence)) {
      report_.Add("trace-vocabulary", lesson.line,
                  "confidence is " + Quoted(lesson.confidence) +
                      ", not measured, replicated, inferred or reported");
    }
    for (const auto* ids : {&lesson.evidence, &lesson.counter_evidence}) {
      for (const std::string& id : *ids) {
        if (Find(id) != nullptr) continue;
        report_.Add("trace-evidence", lesson.line,
                    "the lesson " + Quoted(lesson.id) + " names an attempt " + Quoted(id) +
                        " that does not exist");
      }
    }
    const bool rests_on_runs = lesson.confidence == "measured" || lesson.confidence == "replicated";
    if (rests_on_runs && lesson.evidence.empty()) {
      report_.Add("trace-evidence", lesson.line,
                  "the lesson " + Quoted(lesson.id) + " is " + lesson.confidence +
                      ", but names no attempt");
    }
    if (lesson.nnk.empty() || !context_.entry_state || !context_.entry_state(lesson.nnk).empty()) {
      return;
    }
    report_.Add("cite-missing", lesson.line, "there is no entry " + Quoted(lesson.nnk));
  }

  const LintSource& source_;
  const Document& document_;
  const Value& front_;
  const Trace trace_;
  const LintContext& context_;
  LintReport& report_;
  std::map<std::string, const Attempt*> attempts_;
};

}  // namespace

void LintTrace(const LintSource& source, const LintContext& context, LintReport& report) {
  TraceCheck(source, context, report).Run();
}

}  // namespace kb
