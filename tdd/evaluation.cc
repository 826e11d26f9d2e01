#include "tdd/evaluation.h"

#include <algorithm>

#include "kb/evidence.h"

namespace kb {
namespace {

constexpr size_t kMaxStages = 64;
// What a section may not be called, because the header of the record is called so.
constexpr std::string_view kHeader[] = {"kb",      "status", "kind",      "stage",       "message",
                                        "created", "case",   "candidate", "environment", "stages"};

bool IsHeader(std::string_view name) {
  return std::find(std::begin(kHeader), std::end(kHeader), name) != std::end(kHeader);
}

void SetVerdict(Value* value, const Verdict& verdict) {
  value->Set("status", StatusName(verdict.status));
  value->Set("kind", verdict.kind);
}

std::optional<Verdict> VerdictOf(const Value& value) {
  const std::optional<Status> status = ParseStatus(value["status"].AsString());
  if (!status) return std::nullopt;
  return Verdict{*status, value["kind"].AsString(), value["message"].AsString()};
}

Value StageLine(const StageReport& stage) {
  Value line(Value::Map{{"name", stage.name}});
  SetVerdict(&line, stage.verdict);
  line.Set("seconds", stage.seconds);
  line.Set("message", stage.verdict.message);
  return line;
}

}  // namespace

const StageReport* Evaluation::Find(std::string_view name) const {
  for (const StageReport& report : stages) {
    if (report.name == name) return &report;
  }
  return nullptr;
}

Value ToValue(const Evaluation& evaluation) {
  Value value(Value::Map{{"kb", "evaluation/1"}});
  SetVerdict(&value, evaluation.verdict);
  value.Set("stage", evaluation.stage);
  value.Set("message", evaluation.verdict.message);
  value.Set("created", evaluation.created);
  value.Set("case", evaluation.case_identity);
  value.Set("candidate", evaluation.candidate_identity);
  value.Set("environment", evaluation.environment);
  Value::List lines;
  for (const StageReport& stage : evaluation.stages) lines.push_back(StageLine(stage));
  value.Set("stages", Value(std::move(lines)));
  for (const StageReport& stage : evaluation.stages) {
    if (!stage.detail.IsNull()) value.Set(stage.name, stage.detail);
  }
  return value;
}

std::optional<Evaluation> EvaluationFromValue(const Value& value, std::string* why) {
  const auto fail = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return std::nullopt;
  };
  if (value["kb"].AsString() != "evaluation/1") return fail("kb is not evaluation/1");
  const std::optional<Verdict> verdict = VerdictOf(value);
  if (!verdict) return fail("status is none of ours");
  if (!value["stages"].IsList()) return fail("it has no list of stages");
  if (value["stages"].AsList().size() > kMaxStages) return fail("it has more than 64 stages");
  Evaluation evaluation;
  evaluation.verdict = *verdict;
  evaluation.stage = value["stage"].AsString();
  evaluation.case_identity = value["case"];
  evaluation.candidate_identity = value["candidate"];
  evaluation.environment = value["environment"];
  evaluation.created = value["created"].AsString();
  for (const Value& line : value["stages"].AsList()) {
    const std::optional<Verdict> of_stage = VerdictOf(line);
    const std::string& name = line["name"].AsString();
    if (name.empty() || IsHeader(name)) return fail("a stage has no name of its own");
    if (evaluation.Find(name) != nullptr) return fail("two stages have the same name");
    if (!of_stage) return fail("the status of a stage is none of ours");
    evaluation.stages.push_back({name, *of_stage, line["seconds"].AsDouble(), value[name]});
  }
  return evaluation;
}

std::string EvaluationId(const Evaluation& evaluation) {
  return EvidenceDigest(ToValue(evaluation));
}

}  // namespace kb
