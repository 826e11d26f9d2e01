#include "cli/tdd_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/table.h"
#include "kb/file.h"

namespace kb {
namespace {

const Value& Section(const Evaluation& evaluation, std::string_view name) {
  static const Value kNone;
  const StageReport* stage = evaluation.Find(name);
  return stage == nullptr ? kNone : stage->detail;
}

std::string Identity(const Evaluation& evaluation) {
  return Printable(evaluation.case_identity["name"].AsString()) + " / " +
         Printable(evaluation.candidate_identity["id"].AsString());
}

std::string RedWords(const Value& red) {
  int killed = 0, all = 0, equivalent = 0;
  for (const Value& mutant : red["mutants"].AsList()) {
    const std::string& status = mutant["status"].AsString();
    killed += status == "killed";
    equivalent += status.find("equivalent") != std::string::npos;
    all += status == "killed" || status == "survived";
  }
  if (red["score"].IsNull()) return "";
  return fmt::format("score {:.2f}: {} of {} wrong kernels killed, {} equivalent",
                     red["score"].AsDouble(), killed, all, equivalent);
}

std::string GreenWords(const Value& green) {
  if (green["runs"].IsNull()) return "";
  double ulp = 0;
  for (const Value& output : green["outputs"].AsList())
    ulp = std::max(ulp, output["max_ulp"].AsDouble());
  return fmt::format("{} trials, {} runs, at most {:.3g} ulp off, {}", green["trials"].AsInt(),
                     green["runs"].AsInt(), ulp,
                     green["deterministic"].AsBool() ? "same bits twice" : "other bits each time");
}

std::string CompileWords(const Value& compile) {
  std::string words;
  for (const Value& kernel : compile["kernels"].AsList()) {
    words += fmt::format("{}{}: {} registers, {} B shared, {} B spilled", words.empty() ? "" : "; ",
                         Printable(kernel["name"].AsString()), kernel["registers"].AsInt(),
                         kernel["shared_bytes"].AsInt(),
                         kernel["spill_store_bytes"].AsInt() + kernel["spill_load_bytes"].AsInt());
  }
  return words;
}

std::string SanitizeWords(const Value& sanitize) {
  std::string words;
  for (const Value& tool : sanitize["tools"].AsList()) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", tool["name"].AsString(),
                         tool["errors"].AsInt());
  }
  return words.empty() ? "" : "errors: " + words;
}

std::string Words(const StageReport& stage) {
  if (!stage.verdict.message.empty()) return Printable(stage.verdict.message);
  if (stage.name == "compile") return CompileWords(stage.detail);
  if (stage.name == "red" || stage.name == "mutants") return RedWords(stage.detail);
  if (stage.name == "green") return GreenWords(stage.detail);
  if (stage.name == "sanitize") return SanitizeWords(stage.detail);
  return Printable(stage.detail["summary"].AsString());
}

std::string Stages(const Evaluation& evaluation, int columns) {
  Table table({{"stage"}, {"verdict"}, {"time", true}, {"what was seen"}});
  for (const StageReport& stage : evaluation.stages) {
    const std::string verdict = VerdictName(stage.verdict);
    const int room = columns - 24 - DisplayWidth(verdict);
    table.AddRow({stage.name, verdict, fmt::format("{:.1f} s", stage.seconds),
                  FitWidth(Words(stage), std::max(room, 20))});
  }
  return table.Draw();
}

std::string Us(const Value& side) { return fmt::format("{:.2f} us", side["median"].AsDouble()); }

std::string Interval(const Value& ci) {
  if (ci.AsList().size() != 2) return "";
  return fmt::format("{:.4f} .. {:.4f}", ci.AsList()[0].AsDouble(), ci.AsList()[1].AsDouble());
}

std::string Times(const Evaluation& evaluation) {
  const Value& measure = Section(evaluation, "measure");
  const Value::List& rows = measure.IsList() ? measure.AsList() : measure["measure"].AsList();
  if (rows.empty()) return "";
  Table table({{"workload"},
               {"L2"},
               {"baseline", true},
               {"candidate", true},
               {"ratio", true},
               {"95 % interval"},
               {"roofline", true}});
  for (const Value& row : rows) {
    table.AddRow({row["workload"].AsString(), row["cold_l2"].AsBool() ? "cold" : "warm",
                  Us(row["baseline"]), Us(row["candidate"]),
                  fmt::format("{:.4f}", row["ratio"]["median"].AsDouble()),
                  Interval(row["ratio"]["ci95"]),
                  row["percent_of_roofline"].IsNumber()
                      ? fmt::format("{:.1f} %", row["percent_of_roofline"].AsDouble())
                      : ""});
  }
  return "\n" + table.Draw();
}

double Seconds(const Evaluation& evaluation) {
  double sum = 0;
  for (const StageReport& stage : evaluation.stages) sum += stage.seconds;
  return sum;
}

// Of the cold measurements the best ratio, as "1.268 x".
std::string BestRatio(const Evaluation& evaluation) {
  double best = 0;
  const Value& measure = Section(evaluation, "measure");
  for (const Value& row : measure.IsList() ? measure.AsList() : measure["measure"].AsList()) {
    if (row["cold_l2"].AsBool()) best = std::max(best, row["ratio"]["median"].AsDouble());
  }
  return best > 0 ? fmt::format("{:.3f} x", best) : "";
}

std::string Score(const Evaluation& evaluation) {
  const Value& mutants = Section(evaluation, "mutants");
  const Value& red = mutants["score"].IsNull() ? Section(evaluation, "red") : mutants;
  return red["score"].IsNull() ? "" : fmt::format("{:.2f}", red["score"].AsDouble());
}

}  // namespace

std::string DrawEvaluation(const Evaluation& evaluation, int columns) {
  std::string text = Identity(evaluation) + ": " + VerdictName(evaluation.verdict);
  if (const Value& gpu = evaluation.environment["gpu"]; !gpu.IsNull()) {
    text += " on " + Printable(gpu.AsString()) + ", CUDA " +
            Printable(evaluation.environment["cuda"].AsString());
  }
  return text + "\n\n" + Stages(evaluation, columns) + Times(evaluation);
}

std::string DrawEvaluations(const std::vector<Evaluation>& evaluations, int columns) {
  Table table({{"case / candidate"},
               {"verdict"},
               {"stage"},
               {"red", true},
               {"cold ratio", true},
               {"time", true},
               {"why"}});
  for (const Evaluation& one : evaluations) {
    table.AddRow({Identity(one), VerdictName(one.verdict), one.stage, Score(one), BestRatio(one),
                  fmt::format("{:.1f} s", Seconds(one)),
                  FitWidth(Printable(one.verdict.message), std::max(20, columns - 90))});
  }
  return table.Draw();
}

int ExitCodeOf(const std::vector<Evaluation>& evaluations) {
  int code = kFound;
  for (const Evaluation& one : evaluations) {
    if (one.verdict.passed()) continue;
    const bool could_not =
        one.verdict.status == Status::kSkipped || one.verdict.status == Status::kInfraError;
    code = could_not && code != kNothing ? kCouldNot : kNothing;
  }
  return code;
}

}  // namespace kb
