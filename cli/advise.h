// What bounds each kernel of an Nsight Compute report, why, and which skills and entries apply:
// by a table of rules over raw metric names (advise_rules.h), not by similarity.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/ncu_csv.h"
#include "kb/value.h"

namespace kb {

struct AdviceRule;

// A condition that held, with the numbers that made it hold.
struct Evidence {
  std::string metric;  // a raw name, or "A / B"
  double value = 0;    // of A / B: the quotient
  std::string unit;    // as the report has it; "" for quotients
  bool at_least = true;
  double threshold = 0;  // value >= threshold, or (at_least false) value < threshold
};

struct Finding {
  const AdviceRule* rule = nullptr;  // static
  std::vector<Evidence> evidence;
};

// A bound that could not be judged, since none of its rules had all its metrics.
struct Unknown {
  std::string bound;
  std::vector<std::string> missing;  // raw names; those of the rule that lacks fewest
};

struct KernelAdvice {
  const NcuKernel* kernel = nullptr;
  std::optional<Finding> bound;  // nullopt: nothing can be said
  std::vector<Finding> also;     // what contributes, or is near its limit too; at most four
  std::vector<Unknown> unknown;
};

// Of one kernel. `kernel` must outlive the advice.
[[nodiscard]] KernelAdvice Advise(const NcuKernel& kernel);

// The metrics that the rules read: what ReadNcuCsv need keep.
[[nodiscard]] const std::vector<std::string_view>& AdviceMetrics();

// The advice on a whole report, as `kb advise --json` prints it:
//   {page: "raw"|"details", kernels: [KERNEL...], left_out, other_lines, index: bool}
//   KERNEL:  {id, name, block, grid, compute_capability, duration_s or null,
//             bound: "dram"|"l2"|... or null, finding: FINDING or null, also: [FINDING...],
//             unknown: [{bound, missing: [metric...]}...],
//             skills: [{id, found, command or null}...],
//             entries: [{id, kind, state, title, command}...]}
//   FINDING: {rule, bound, says, advice, evidence: [{metric, value, unit, op, threshold}...],
//             source, skills: [id...], query}
// `kb_dir`: where skills and entries are looked up; without an index there (or "") `index` is
// false, skills have found: false and command: null, and entries is empty. `max_kernels`: only
// the so many of longest duration, in the order of the file; `left_out` counts the others; 0: all.
// Throws Error if `csv` is no report (as ReadNcuCsv).
[[nodiscard]] Value AdviseJson(std::string_view csv, const std::string& kb_dir,
                               size_t max_kernels = 0);

}  // namespace kb
