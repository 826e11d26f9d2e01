#include "tdd/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "kb/document.h"
#include "kb/error.h"
#include "kb/json.h"
#include "kb/sha256.h"
#include "kb/trace.h"
#include "tdd/process.h"

namespace kb {
namespace {

constexpr size_t kMaxDiff = 64 << 10;

// A string as YAML flow: JSON is a subset.
std::string Quoted(std::string_view text) { return WriteJson(Value(text)); }

const Value& DetailOf(const Evaluation& evaluation, std::string_view stage) {
  static const Value kNone;
  const StageReport* found = evaluation.Find(stage);
  return found == nullptr ? kNone : found->detail;
}

// The row of the first workload, cold L2: the one that a trace compares by.
const Value& MainRow(const Evaluation& evaluation) {
  static const Value kNone;
  for (const Value& row : DetailOf(evaluation, "measure").AsList()) {
    if (row["cold_l2"].AsBool()) return row;
  }
  return kNone;
}

std::string CompileLine(const Evaluation& evaluation) {
  const StageReport* stage = evaluation.Find("compile");
  if (stage == nullptr) return "{status: NOT_RUN}";
  int64_t registers = 0, shared = 0, spill = 0;
  for (const Value& kernel : stage->detail["kernels"].AsList()) {
    registers = std::max(registers, kernel["registers"].AsInt());
    shared = std::max(shared, kernel["shared_bytes"].AsInt());
    spill += kernel["spill_store_bytes"].AsInt() + kernel["spill_load_bytes"].AsInt();
  }
  return fmt::format("{{status: {}, regs: {}, smem_bytes: {}, spill_bytes: {}}}",
                     StatusName(stage->verdict.status), registers, shared, spill);
}

std::string TestsLine(const Evaluation& evaluation) {
  const StageReport* green = evaluation.Find("green");
  if (green == nullptr || green->verdict.status == Status::kSkipped) return "{status: NOT_RUN}";
  int passed = 0, failed = 0;
  double worst = 0;
  for (const Value& test : green->detail["tests"].AsList())
    (test["passed"].AsBool() ? passed : failed)++;
  for (const Value& output : green->detail["outputs"].AsList())
    worst = std::max(worst, output["max_abs"].AsDouble());
  const StageReport* sanitize = evaluation.Find("sanitize");
  return fmt::format("{{status: {}, passed: {}, failed: {}, max_abs_err: {:.3g}, sanitizer: {}}}",
                     StatusName(evaluation.verdict.status), passed, failed, worst,
                     sanitize == nullptr ? "NOT_RUN" : StatusName(sanitize->verdict.status));
}

std::string TimeLine(const Value& row) {
  const double median = row["candidate"]["median"].AsDouble();
  const double baseline = row["baseline"]["median"].AsDouble();
  return fmt::format(
      "{{method: \"CUDA events, ABBA\", workload: {}, unit: us, n: {}, median: {:.3f}, p10: "
      "{:.3f}, p90: {:.3f}, "
      "cold_l2: true, baseline: {:.3f}, speedup: {:.4f}, ci95: {}}}",
      Quoted(row["workload"].AsString()), row["candidate"]["samples"].AsList().size(), median,
      row["candidate"]["p10"].AsDouble(), row["candidate"]["p90"].AsDouble(), baseline,
      baseline / median, WriteJson(row["ratio"]["ci95"]));
}

double Seconds(const Evaluation& evaluation) {
  double sum = 0;
  for (const StageReport& stage : evaluation.stages) sum += stage.seconds;
  return sum;
}

std::string CostLine(const Evaluation& evaluation, const Value& row) {
  const double joules = row["energy_j"]["candidate"].AsDouble();
  return fmt::format("{{wall_s: {:.1f}{}}}", Seconds(evaluation),
                     joules > 0 ? fmt::format(", energy_j: {:.6g}", joules) : "");
}

struct Best {
  std::string id;
  double median_us = 0, speedup = 0;
};

// The fastest attempt that passed and was kept.
Best BestOf(const Trace& trace) {
  Best best;
  for (const Attempt& attempt : trace.attempts) {
    if (attempt.status != "PASSED" || !attempt.median_us || attempt.decision != "keep") continue;
    if (best.id.empty() || *attempt.median_us < best.median_us) {
      best = {attempt.id, *attempt.median_us, attempt.baseline_us.value_or(0) / *attempt.median_us};
    }
  }
  return best;
}

std::string Decision(const Evaluation& evaluation, const AttemptNote& note, const Best& best,
                     const Value& row) {
  if (!note.decision.empty()) return note.decision;
  if (!evaluation.verdict.passed() || row.IsNull()) return "revert";
  return best.id.empty() || row["candidate"]["median"].AsDouble() < best.median_us ? "keep"
                                                                                   : "park";
}

std::string Why(const Evaluation& evaluation, const AttemptNote& note, const Best& best,
                const Value& row) {
  if (!note.why.empty()) return note.why;
  if (!evaluation.verdict.passed())
    return VerdictName(evaluation.verdict) + ": " + evaluation.verdict.message;
  if (row.IsNull()) return "the tests passed; nothing was measured";
  const double median = row["candidate"]["median"].AsDouble();
  if (best.id.empty()) return fmt::format("{:.2f} us: the first that passed", median);
  return fmt::format("{:.2f} us against {:.2f} us of {}, the best before", median, best.median_us,
                     best.id);
}

std::string AttemptBlock(const std::string& id, const std::string& parent,
                         const Candidate& candidate, const Evaluation& evaluation,
                         const AttemptNote& note, const Best& best) {
  const Value& row = evaluation.verdict.passed() ? MainRow(evaluation) : Value();
  std::string text = fmt::format("### {}: {}\n\n```yaml kb:attempt\nid: {}\n", id,
                                 candidate.title.empty() ? candidate.id : candidate.title, id);
  if (!parent.empty()) text += "parent: " + parent + "\n";
  text += "hypothesis: " + Quoted(note.hypothesis) + "\n";
  text +=
      fmt::format("change: {{kind: candidate, candidate: {}, files: [{{path: {}, sha256: {}}}]}}\n",
                  Quoted(candidate.id), Quoted(candidate.source), Sha256(candidate.source_text));
  text += "compile: " + CompileLine(evaluation) + "\ntests: " + TestsLine(evaluation) + "\n";
  if (!row.IsNull()) text += "time: " + TimeLine(row) + "\n";
  if (row["percent_of_roofline"].IsNumber()) {
    text += fmt::format("roofline: {{percent: {:.1f}, bound: {}}}\n",
                        row["percent_of_roofline"].AsDouble(), Quoted(row["bound"].AsString()));
  }
  text += "cost: " + CostLine(evaluation, row) + "\n";
  text += "decision: " + Decision(evaluation, note, best, row) + "\n";
  text += "why: " + Quoted(Why(evaluation, note, best, row)) + "\n";
  text += "evaluation: " + EvaluationId(evaluation) + "\n```\n\n";
  if (!note.diff.empty()) {
    std::string fence = "```";
    while (note.diff.find(fence) != std::string::npos) fence += '`';
    text += fence + "diff\n" + note.diff + (note.diff.back() == '\n' ? "" : "\n") + fence + "\n\n";
  }
  return text;
}

std::string ResultLine(const Trace& trace) {
  const Best best = BestOf(trace);
  std::string line = fmt::format("result: {{status: {}, attempts: {}",
                                 best.id.empty() ? "open" : "improved", trace.attempts.size());
  if (!best.id.empty()) line += fmt::format(", best: {}, speedup: {:.4f}", best.id, best.speedup);
  return line + "}";
}

// The one-line `result:` of the front matter replaced.
std::string WithResult(std::string text, const std::string& line, const std::string& path) {
  const size_t at = text.find("\nresult:");
  if (at == std::string::npos || at > text.find("\n---", 4)) {
    throw Error(path +
                ": the front matter has no line `result: {...}` to bring up to date; add one");
  }
  const size_t end = text.find('\n', at + 1);
  return text.replace(at + 1, end - at - 1, line);
}

Trace Parsed(std::string_view text, const std::string& path) {
  return ParseTrace(ParseDocument(path, std::string(text)));
}

}  // namespace

std::string NewTrace(const std::string& id, const Case& for_case, const Evaluation& first,
                     const std::string& date) {
  const Value& environment = first.environment;
  const std::string dtype = for_case.outputs.empty() ? "any" : DtypeName(for_case.outputs[0].dtype);
  const std::string shape = for_case.time.empty() ? "" : for_case.time[0].label;
  return fmt::format(
      "---\nkb: trace/1\nid: {}\ntitle: {}\ntask: {{op: {}, dtype: {}, shape: {}, case: {}}}\n"
      "goal: {{metric: time, target: \"the roofline of this GPU\", baseline: {}}}\n"
      "hardware: {{gpu: {}, cc: {}}}\ntoolchain: {{cuda: {}}}\nagent: {{name: kb}}\n"
      "license: CC-BY-4.0\ncreated: {}\nresult: {{status: open, attempts: 0}}\n---\n# {}\n\n## "
      "Attempts\n\n## Lessons\n",
      id, Quoted(for_case.title), Quoted(for_case.name), Quoted(dtype), Quoted(shape),
      Quoted(for_case.name), Quoted(for_case.baseline), Quoted(environment["gpu"].AsString()),
      Quoted(environment["arch"].AsString()), Quoted(environment["cuda"].AsString()), date,
      for_case.title);
}

std::string AppendAttempt(std::string_view trace, const std::string& path,
                          const Candidate& candidate, const Evaluation& evaluation,
                          const AttemptNote& note) {
  std::string text(trace);
  const Document document = ParseDocument(path, text);
  if (document.front_matter["kb"].ToText() != "trace/1") {
    throw Error(path + " is no trace (kb: trace/1); let kb tdd attempt make a new file");
  }
  const std::string of_case = document.front_matter["task"]["case"].ToText();
  const std::string this_case = evaluation.case_identity["name"].AsString();
  if (of_case != this_case) {
    throw Error(path + ": this is a trace of the case '" + of_case +
                "', and the candidate is one of '" + this_case + "'");
  }
  const Trace before = ParseTrace(document);
  const Best best = BestOf(before);
  const std::string id = "A" + std::to_string(before.attempts.size() + 1);
  const std::string parent = note.parent.empty() ? best.id : note.parent;
  size_t at = text.find("\n## Lessons");
  at = at == std::string::npos ? text.size() : at + 1;
  text.insert(at, AttemptBlock(id, parent, candidate, evaluation, note, best));
  return WithResult(text, ResultLine(Parsed(text, path)), path);
}

std::string DiffFiles(const std::string& before, const std::string& after) {
  ProcessOptions options;
  options.argv = {"/usr/bin/diff",
                  "-u",
                  "--label",
                  "before",
                  "--label",
                  "after",
                  "--",
                  std::filesystem::absolute(before).string(),
                  std::filesystem::absolute(after).string()};
  options.timeout_s = 10;
  options.output_bytes = kMaxDiff;
  const ProcessResult ended = RunProcess(options);
  return ended.started && ended.exit_code == 1 && !ended.too_much_output ? ended.out : "";
}

}  // namespace kb
