#include "kb/entry_state.h"

#include <algorithm>
#include <cmath>

namespace kb {
namespace {

constexpr double kNegativeLimit = 1.01;  // an improvement of 1 % or less is none

// Statuses that are nobody's fault but ours or the machine's: they say nothing of the claim.
constexpr std::string_view kSaysNothing[] = {"SKIPPED",           "INFRA_ERROR",  "TIMEOUT_BUILD",
                                             "INVALID_REFERENCE", "INVALID_CASE", "WEAK_TEST"};

bool SaysSomething(const Value& evaluation) {
  const std::string& status = evaluation["status"].AsString();
  return std::find(std::begin(kSaysNothing), std::end(kSaysNothing), status) ==
         std::end(kSaysNothing);
}

bool Passed(const Value& evaluation) { return evaluation["status"].AsString() == "PASSED"; }

double Digits5(double x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::fabs(x))));
  return scale >= 1 ? std::round(x * scale) / scale : std::round(x);
}

bool IsPositive(double x) { return x > 0 && std::isfinite(x); }

std::optional<double> PositiveOf(const Value& value) {
  const double number = value.AsDouble();
  return IsPositive(number) ? std::optional<double>(number) : std::nullopt;
}

const Value* HeadlineItem(const Value::List& items) {
  for (const Value& item : items) {
    if (item["cold_l2"].AsBool()) return &item;
  }
  return items.empty() ? nullptr : &items.front();
}

bool SameThing(const Headline& a, const Headline& b) {
  return a.gpu == b.gpu && a.workload == b.workload && a.cold_l2 == b.cold_l2 &&
         a.baseline == b.baseline;
}

double AllowedDifference(const Headline& a, const Headline& b) {
  const double us = std::min(a.candidate_us, b.candidate_us);
  return us >= 100 ? 0.005 : us >= 15 ? 0.01 : 0;
}

bool SameHashes(const Value& front_matter, const Value& evaluation) {
  return evaluation["case"]["sha256"].AsString() == front_matter["case"]["sha256"].AsString() &&
         evaluation["candidate"]["sha256"].AsString() ==
             front_matter["candidate"]["sha256"].AsString();
}

std::string Contradiction(ClaimKind kind, const Headline& first, const EvidenceFile& newest) {
  if (!Passed(newest.value)) {
    return newest.name + " says " + newest.value["status"].AsString();
  }
  const std::optional<Headline> now = HeadlineOf(newest.value);
  if (!now || !SameThing(first, *now)) return "";
  if (!Supports(kind, *now)) return newest.name + " does not support the claim";
  const bool below = now->speedup < first.speedup && !RatiosAgree(first, *now);
  if (kind == ClaimKind::kFaster && below) return newest.name + " does not reach the claim's ratio";
  return "";
}

}  // namespace

std::optional<Headline> HeadlineOf(const Value& evaluation) {
  const Value* item = HeadlineItem(evaluation["measure"].AsList());
  if (item == nullptr) return std::nullopt;
  const Value::List& ci95 = (*item)["ratio"]["ci95"].AsList();
  Headline headline;
  const Value& environment = evaluation["environment"];
  headline.gpu = environment["gpu"].AsString();
  headline.cuda = environment["cuda"].AsString();
  headline.arch = environment["arch"].AsString();
  headline.workload = (*item)["workload"].ToText();
  headline.cold_l2 = (*item)["cold_l2"].AsBool();
  headline.baseline = (*item)["baseline"]["id"].AsString();
  headline.baseline_us = (*item)["baseline"]["median"].AsDouble();
  headline.candidate_us = (*item)["candidate"]["median"].AsDouble();
  headline.speedup = (*item)["ratio"]["median"].AsDouble();
  headline.low = ci95.size() == 2 ? ci95[0].AsDouble() : 0;
  headline.high = ci95.size() == 2 ? ci95[1].AsDouble() : 0;
  for (const double number : {headline.baseline_us, headline.candidate_us, headline.speedup,
                              headline.low, headline.high}) {
    if (!IsPositive(number)) return std::nullopt;
  }
  if (const Value& faster = (*item)["faster"]; faster.IsBool()) headline.faster = faster.AsBool();
  headline.percent_of_roofline = PositiveOf((*item)["percent_of_roofline"]);
  headline.bound = (*item)["bound"].AsString();
  headline.energy_j = PositiveOf((*item)["energy_j"]["candidate"]);
  return headline;
}

Value BestValue(const Headline& headline) {
  Value best(
      Value::Map{{"gpu", headline.gpu},
                 {"workload", headline.workload},
                 {"cold_l2", headline.cold_l2},
                 {"median_us", Digits5(headline.candidate_us)},
                 {"baseline", headline.baseline},
                 {"speedup", Digits5(headline.speedup)},
                 {"ci95", Value(Value::List{Digits5(headline.low), Digits5(headline.high)})}});
  if (headline.percent_of_roofline) {
    best.Set("percent_of_roofline", std::round(*headline.percent_of_roofline * 10) / 10);
  }
  if (headline.energy_j) best.Set("energy_j", Digits5(*headline.energy_j));
  return best;
}

bool RatiosAgree(const Headline& a, const Headline& b) {
  if (!SameThing(a, b)) return false;
  if (a.low <= b.high && b.low <= a.high) return true;
  return std::fabs(a.speedup - b.speedup) <=
         AllowedDifference(a, b) * std::min(a.speedup, b.speedup);
}

const char* ClaimKindName(ClaimKind kind) {
  constexpr const char* kNames[] = {"faster", "negative", "baseline"};
  return kNames[static_cast<size_t>(kind)];
}

ClaimKind ClaimKindOf(const Value& front_matter) {
  for (const ClaimKind kind : {ClaimKind::kNegative, ClaimKind::kBaseline}) {
    if (front_matter["kind"].ToText() == ClaimKindName(kind)) return kind;
  }
  return ClaimKind::kFaster;
}

bool Supports(ClaimKind kind, const Headline& headline) {
  if (kind == ClaimKind::kFaster) return headline.low > 1;
  return kind == ClaimKind::kBaseline || headline.high <= kNegativeLimit;
}

EntryState StateFromEvidence(const Value& front_matter, const std::vector<EvidenceFile>& evidence) {
  const ClaimKind kind = ClaimKindOf(front_matter);
  std::vector<const EvidenceFile*> same;
  for (const EvidenceFile& file : evidence) {
    if (SameHashes(front_matter, file.value) && SaysSomething(file.value)) same.push_back(&file);
  }
  EntryState state;
  if (evidence.empty()) return {"", "there is no evidence", {}};
  const auto supports = [kind](const EvidenceFile* file) {
    const std::optional<Headline> headline = HeadlineOf(file->value);
    return Passed(file->value) && headline && Supports(kind, *headline);
  };
  const auto first = std::find_if(same.begin(), same.end(), supports);
  if (same.empty()) return {"stale", "no evidence is of this case and candidate", {}};
  if (first == same.end()) return {"refuted", "no evidence supports the claim", {}};
  state.best = HeadlineOf((*first)->value);
  std::vector<Headline> runs;  // on the claim's GPU
  const EvidenceFile* newest = nullptr;
  for (const EvidenceFile* file : same) {
    if (file->value["environment"]["gpu"].AsString() != state.best->gpu) continue;
    newest = file;
    const std::optional<Headline> headline = HeadlineOf(file->value);
    if (supports(file) && SameThing(*headline, *state.best)) runs.push_back(*headline);
  }
  if (std::string why = Contradiction(kind, *state.best, *newest); !why.empty()) {
    state.state = "refuted";
    state.why = std::move(why);
    return state;
  }
  const auto agrees = [&](const Headline& run) { return RatiosAgree(*state.best, run); };
  const auto agreeing = std::count_if(runs.begin(), runs.end(), agrees);
  state.state = agreeing >= 2 ? "replicated" : "proved";
  state.why = std::to_string(agreeing) + (agreeing == 1 ? " run" : " separate runs that agree");
  return state;
}

}  // namespace kb
