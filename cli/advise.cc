#include "cli/advise.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "cli/advise_rules.h"

namespace kb {
namespace {

constexpr size_t kMaxAlso = 4;

std::vector<const AdviceRule*> AllRules() {
  std::vector<const AdviceRule*> rules;
  for (const auto table : {ObstacleRules(), UnitRules(), LatencyRules(), ContributingRules()}) {
    for (const AdviceRule& rule : table) rules.push_back(&rule);
  }
  return rules;
}

// The conditions of a rule that are there.
std::span<const Condition> ConditionsOf(const AdviceRule& rule) {
  const auto* end = std::find_if(std::begin(rule.conditions), std::end(rule.conditions),
                                 [](const Condition& c) { return c.metric == nullptr; });
  return {std::begin(rule.conditions), end};
}

// The first metric that `condition` needs and `kernel` lacks; nullptr: none.
const char* Missing(const NcuKernel& kernel, const Condition& condition) {
  if (!kernel.Number(condition.metric)) return condition.metric;
  if (condition.over == nullptr || kernel.Number(condition.over)) return nullptr;
  return condition.over;
}

std::vector<std::string> MissingOf(const NcuKernel& kernel, const AdviceRule& rule) {
  std::vector<std::string> missing;
  for (const Condition& condition : ConditionsOf(rule)) {
    const char* metric = Missing(kernel, condition);
    if (metric != nullptr && std::count(missing.begin(), missing.end(), metric) == 0) {
      missing.emplace_back(metric);
    }
  }
  return missing;
}

// nullopt if the condition does not hold, or a metric is missing. NaN (0 / 0) never holds.
std::optional<Evidence> Check(const NcuKernel& kernel, const Condition& condition) {
  if (Missing(kernel, condition) != nullptr) return std::nullopt;
  Evidence evidence = {condition.metric, *kernel.Number(condition.metric),
                       kernel.metrics.find(std::string_view(condition.metric))->second.unit,
                       condition.at_least, condition.threshold};
  if (condition.over != nullptr) {
    evidence.metric += std::string(" / ") + condition.over;
    evidence.value /= *kernel.Number(condition.over);
    evidence.unit.clear();
  }
  const bool holds = condition.at_least ? evidence.value >= condition.threshold
                                        : evidence.value < condition.threshold;
  return holds ? std::optional(std::move(evidence)) : std::nullopt;
}

bool IsSuperseded(const NcuKernel& kernel, const AdviceRule& rule) {
  return *rule.unless != '\0' && kernel.Number(rule.unless).has_value();
}

std::optional<Finding> Apply(const NcuKernel& kernel, const AdviceRule& rule) {
  if (IsSuperseded(kernel, rule)) return std::nullopt;
  Finding finding = {&rule, {}};
  for (const Condition& condition : ConditionsOf(rule)) {
    auto evidence = Check(kernel, condition);
    if (!evidence) return std::nullopt;
    finding.evidence.push_back(std::move(*evidence));
  }
  return finding;
}

bool HasWord(std::string_view words, std::string_view word) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

// Near its limit too, or with a hand in this bound; not the same bound once more, except for
// the other stalls of a kernel that waits.
bool IsWorthSaying(const AdviceRule& rule, const AdviceRule& bound) {
  if (HasWord(rule.with, bound.bound)) return true;
  return rule.rank <= kNearItsLimit && std::string_view(rule.bound) != bound.bound;
}

std::vector<Unknown> FindUnknown(const NcuKernel& kernel) {
  std::vector<Unknown> unknown;
  std::set<std::string_view> judged;
  for (const AdviceRule* rule : AllRules()) {
    if (rule->rank == kContributes || judged.contains(rule->bound)) continue;
    std::vector<std::string> missing = MissingOf(kernel, *rule);
    const auto at = std::find_if(unknown.begin(), unknown.end(),
                                 [&](const Unknown& u) { return u.bound == rule->bound; });
    if (missing.empty() || IsSuperseded(kernel, *rule)) {
      judged.insert(rule->bound);
      if (at != unknown.end()) unknown.erase(at);
    } else if (at == unknown.end()) {
      unknown.push_back({rule->bound, std::move(missing)});
    } else if (missing.size() < at->missing.size()) {
      at->missing = std::move(missing);
    }
  }
  return unknown;
}

}  // namespace

KernelAdvice Advise(const NcuKernel& kernel) {
  KernelAdvice advice;
  advice.kernel = &kernel;
  std::vector<Finding> found;
  for (const AdviceRule* rule : AllRules()) {
    if (auto finding = Apply(kernel, *rule)) found.push_back(std::move(*finding));
  }
  // By rank, then by how far the first metric has come; equals stay in the order of the tables.
  std::stable_sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
    if (a.rule->rank != b.rule->rank) return a.rule->rank < b.rule->rank;
    return a.evidence[0].value > b.evidence[0].value;
  });
  advice.unknown = FindUnknown(kernel);
  if (found.empty() || found[0].rule->rank == kContributes) return advice;
  advice.bound = std::move(found[0]);
  // What contributes comes before what is near its limit too: it is what can be mended.
  for (const bool contributes : {true, false}) {
    for (size_t i = 1; i < found.size() && advice.also.size() < kMaxAlso; ++i) {
      const AdviceRule& rule = *found[i].rule;
      if ((rule.rank == kContributes) == contributes && IsWorthSaying(rule, *advice.bound->rule)) {
        advice.also.push_back(std::move(found[i]));
      }
    }
  }
  return advice;
}

const std::vector<std::string_view>& AdviceMetrics() {
  static const std::vector<std::string_view> metrics = [] {
    std::set<std::string_view> names = {"gpu__time_duration.sum"};
    for (const AdviceRule* rule : AllRules()) {
      for (const Condition& condition : ConditionsOf(*rule)) {
        names.insert(condition.metric);
        if (condition.over != nullptr) names.insert(condition.over);
      }
      if (*rule->unless != '\0') names.insert(rule->unless);
    }
    return std::vector<std::string_view>(names.begin(), names.end());
  }();
  return metrics;
}

}  // namespace kb
