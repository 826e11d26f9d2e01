// What a case needs at least, held against what this GPU was seen to do: percent of the roofline,
// the SOL score, and times that no kernel can have.
#pragma once

#include <optional>
#include <string>

#include "tdd/case.h"
#include "tdd/evaluation.h"
#include "tdd/runner.h"

namespace kb {

struct Measurement;

// Of one workload, by the definition of the problem.
struct Required {
  int64_t bytes = 0;         // that move through device memory
  int64_t flops = 0;         // 0: not counted
  int64_t output_bytes = 0;  // part of `bytes` that is written
  int64_t footprint = 0;     // all inputs and outputs
};
// nullopt and why, if an expression has no value, or one below 0.
[[nodiscard]] std::optional<Required> RequiredOf(const Case& for_case, const Axes& axes,
                                                 std::string* why = nullptr);

// The time at the measured peaks: max(bytes / copy peak, flops / compute peak). The compute peak is
// that of matrix products, and counts only if the case's flops are of such a type (bf16, f16); for
// others no peak is measured, so memory alone bounds, and `compute_known` is false.
struct Roofline {
  double time_us = 0;  // 0: no peak or nothing required
  bool compute_bound = false;
  bool compute_known = false;
};
[[nodiscard]] Roofline RooflineOf(const Required& required, const std::string& flop_dtype,
                                  const Peaks& peaks);

// 1 / (1 + (T - Tsol) / (Tbase - Tsol)) (SOL-ExecBench): 0.5 for the baseline's time, 1 at the
// roofline. nullopt if the baseline is not slower than the roofline, or the sum is not above 0.
[[nodiscard]] std::optional<double> SolScore(double time_us, double sol_us, double baseline_us);

// The shortest time that is possible at all; below it the work was not done. Optimistic on
// purpose, because a false alarm calls an honest author a cheat:
//  - memory at 1.10 x the copy peak. A copy turns the bus around between reads and writes; an H200
//    copies at 4.17 TB/s, y += a x (two reads a write) ran at 4.29, 1.03 x, and its pins end
//    at 4.8, 1.15 x, of which reads alone reach some 93 %. A margin of 1.02 would refuse the axpy;
//  - cold L2: writes may still lie in L2 when the kernel ends, so as much as fits there is not
//    counted; reads all come from memory;
//  - warm L2: whatever fits in L2 may come from there, the rest from memory at the same time;
//  - L2 itself at 8 x the copy peak in both states: GPUs have 2 x (H200) to 5.5 x (RTX 4090);
//  - matrix products at 1.25 x the measured peak: an H200's data sheet says 989 TFLOP/s, cuBLAS
//    gave 782 on random data at its power limit, and smaller products are not held down by it.
[[nodiscard]] double FloorUs(const Required& required, const std::string& flop_dtype,
                             const Peaks& peaks, int64_t l2_bytes, bool cold_l2);

// The plausible stage: REWARD_HACK(impossible-time) if a median, or the tenth of the calls that
// were fastest, is below the floor. Detail: {"peaks": {"copy_bytes_per_s", "bf16_flops_per_s",
//  "how"}, "compute_peak": "bf16" or "not known: ...", "times": [{"workload", "cold_l2", "time_us",
//  "p10_us", "floor_us", "roofline_us", "percent_of_roofline", "bound", "sol_score"}]}.
[[nodiscard]] StageReport ProvePlausible(const Case& for_case,
                                         const std::vector<Measurement>& measurements,
                                         const Peaks& peaks, const Environment& environment);

}  // namespace kb
