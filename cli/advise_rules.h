// The rules of `kb advise`: one table over raw metric names, with where each threshold is from.
#pragma once

#include <span>

namespace kb {

// metric (divided by `over`, if that is given) at least, or else less than, the threshold.
struct Condition {
  const char* metric = nullptr;  // nullptr: no condition
  const char* over = nullptr;
  bool at_least = true;
  double threshold = 0;
};

struct AdviceRule {
  const char* id;
  const char* bound;  // "dram", "l2", "l1", "shared", "memory", "fp32", "fp64", "special",
                      // "integer", "tensor", "issue", "compute", "divergence", "atomics",
                      // "spills", "launch", "occupancy", "latency"; "" if it only contributes
  // Of all rules that hold, the lowest rank is the bound; within a rank the highest value of
  // the first condition; then the order of the table. kContributes: never the bound.
  int rank;
  Condition conditions[5];  // all must hold; a rule that lacks a metric says nothing
  const char* unless;       // not used where this metric is there: a better rule reads it; or ""
  const char* with;         // words: shown as "also" where one of these is the bound
  const char* says;         // what is the case
  const char* advice;       // what to do
  const char* source;       // of condition and threshold
  const char* skills[3];    // ids, the most apt first
  const char* query;        // what to ask the index for more
};

// Up to this rank a rule that holds but is not the bound is still worth saying.
inline constexpr int kNearItsLimit = 50;
inline constexpr int kContributes = 100;

// Four tables of static rules: what is in the way whatever else is busy, what is near its limit,
// what is left if nothing is, and what contributes.
[[nodiscard]] std::span<const AdviceRule> ObstacleRules();
[[nodiscard]] std::span<const AdviceRule> UnitRules();
[[nodiscard]] std::span<const AdviceRule> LatencyRules();
[[nodiscard]] std::span<const AdviceRule> ContributingRules();

}  // namespace kb
