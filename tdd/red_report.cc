// What a red report amounts to.
#include <algorithm>
#include <iterator>

#include "tdd/red.h"

namespace kb {
namespace {

constexpr const char* kFates[] = {
    "killed",       "survived", "equivalent", "duplicate", "declared-equivalent",
    "not compiled", "not run"};
static_assert(std::size(kFates) == static_cast<size_t>(MutantFate::kNotRun) + 1);
constexpr size_t kMaxDiffBytes = 800;

Value Strings(const std::vector<std::string>& strings) {
  Value list = Value::List{};
  for (const std::string& s : strings) list.Add(s);
  return list;
}

Value ToValue(const MutantResult& mutant) {
  Value value;
  value.Set("name", mutant.name).Set("kind", mutant.kind);
  if (mutant.kind == "source") {
    value.Set("operation", mutant.operation).Set("line", mutant.line);
    value.Set("diff", mutant.diff.substr(0, kMaxDiffBytes));
  }
  value.Set("status", MutantFateName(mutant.fate)).Set("killed_by", Strings(mutant.killed_by));
  if (!mutant.note.empty()) value.Set("note", mutant.note);
  return value.Set("cpu_s", mutant.cpu_s);
}

Value ScoreValue(const std::optional<double>& score) { return score ? Value(*score) : Value(); }

}  // namespace

const char* MutantFateName(MutantFate fate) { return kFates[static_cast<size_t>(fate)]; }

int RedReport::Count(MutantFate fate, std::string_view kind) const {
  return static_cast<int>(std::ranges::count_if(mutants, [&](const MutantResult& mutant) {
    return mutant.fate == fate && (kind.empty() || mutant.kind == kind);
  }));
}

std::optional<double> RedReport::Score(std::string_view kind) const {
  const int killed = Count(MutantFate::kKilled, kind);
  const int all = killed + Count(MutantFate::kSurvived, kind);
  if (all == 0) return std::nullopt;
  return static_cast<double>(killed) / all;
}

std::vector<std::string> RedReport::UselessTests() const {
  std::vector<std::string> useless;
  for (const std::string& test : tests) {
    const bool kills = std::ranges::any_of(mutants, [&](const MutantResult& mutant) {
      return std::ranges::find(mutant.killed_by, test) != mutant.killed_by.end();
    });
    if (!kills) useless.push_back(test);
  }
  return useless;
}

Value ToValue(const RedReport& report) {
  Value value, counts, mutants = Value::List{};
  value.Set("score", ScoreValue(report.Score()));
  value.Set("builtin_score", ScoreValue(report.Score("builtin")));
  value.Set("source_score", ScoreValue(report.Score("source")));
  value.Set("threshold", report.threshold);
  for (size_t i = 0; i < std::size(kFates); ++i) {
    counts.Set(kFates[i], report.Count(static_cast<MutantFate>(i)));
  }
  for (const MutantResult& mutant : report.mutants) mutants.Add(ToValue(mutant));
  value.Set("counts", counts).Set("tests", Strings(report.tests));
  value.Set("useless_tests", Strings(report.UselessTests()));
  value.Set("findings", Strings(report.findings)).Set("mutants", mutants);
  return value.Set("cpu_s", report.cpu_s).Set("wall_s", report.wall_s);
}

}  // namespace kb
