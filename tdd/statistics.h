// What timed samples say: medians, and intervals that hold when the measurement is repeated.
// Values in microseconds; nothing here knows what was timed.
#pragma once

#include <cstddef>
#include <vector>

namespace kb {

struct Interval {
  double low = 0, high = 0;
  [[nodiscard]] bool Contains(double x) const { return low <= x && x <= high; }
};

// `ci95` holds `value`, a median or a ratio of medians. `sampling` is the half-width, relative to
// `value`, that more rounds would narrow; the interval is wider by what they would not (see
// RunToRun).
struct MedianEstimate {
  double value = 0;
  Interval ci95;
  double sampling = 0;
};

// Rounds that were kept, in order: two calls of each program a round. Batches are rounds that
// were measured without a pause; between them buffers were placed anew.
struct PairedRounds {
  std::vector<double> baseline, candidate;  // 2 a round
  std::vector<size_t> batches;              // rounds in each; they sum to the rounds
  [[nodiscard]] size_t rounds() const { return candidate.size() / 2; }
};

// What one run cannot see of another: the step of the event clock, which shifts a whole run, and
// the placement of buffers and clocks. Half-widths, added to the sampling error in quadrature.
// Measured on an H200: three repeats of y += a x at 12 us gave 1.187, 1.185, 1.188 (cold) and
// 1.386, 1.387, 1.394 (warm), which a step of 0.032 us on each median explains; at 188 us 1.2683,
// 1.2683, 1.2684, which `drift` covers.
struct RunToRun {
  double clock_step_us = 0.032;
  double drift = 0.0005;  // of a ratio, relative
};

// Linear between the order statistics (R's type 7); `p` in [0, 1]. 0 if there are no samples.
[[nodiscard]] double Quantile(std::vector<double> samples, double p);
[[nodiscard]] double Median(std::vector<double> samples);

// Ratio of the medians, baseline / candidate: above 1 if the candidate is faster. The interval
// (95 %) is the wider one of
//  - a circular block bootstrap over rounds: whole rounds are drawn, so that what slows both
//    programs cancels, and contiguous ones, at least as long as the rounds' own correlation;
//  - Student's t over the batches' own ratios, from 3 batches on: slow drift and placement;
// widened by RunToRun. So it covers: noise, correlation between rounds, drift between batches, the
// clock's step, and the repeat in another process on the same machine. It does not cover: another
// GPU, driver or toolkit, clocks that were locked, other inputs' distribution. The same numbers
// each time: the seed is fixed. Fewer than 2 rounds: no width can be had, {0, infinity}.
[[nodiscard]] MedianEstimate RatioOfMedians(const PairedRounds& rounds, const RunToRun& other = {});

// The median of one program's samples (2 a round). The interval covers noise, correlation, drift
// between batches and the clock's step, but not other clock rates or temperatures: compare times
// of two runs by their ratios to one baseline.
[[nodiscard]] MedianEstimate MedianOf(const std::vector<double>& samples,
                                      const std::vector<size_t>& batches,
                                      const RunToRun& other = {});

}  // namespace kb
