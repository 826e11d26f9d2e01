// The measure stage: baseline and candidate timed in turns (ABBA) on fresh inputs, with cold and
// with warm L2, until their ratio is known; outputs of an unpredictable sample of the timed calls
// checked; the worker's clock held against ours; energy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tdd/candidate.h"
#include "tdd/evaluation.h"
#include "tdd/judge.h"
#include "tdd/roofline.h"
#include "tdd/statistics.h"

namespace kb {

struct MeasureOptions {
  uint64_t seed = 0;  // private to this run: which calls are checked
  int max_rounds = 200, batch_rounds = 25;
  int min_batches = 4;        // before `precision` may end it: their spread is part of the interval
  double precision = 0.0025;  // of the ratio: half-width, relative
  double budget_s = 3;        // of one workload and cache state: the timed loops alone
  int checked_per_batch = 2;  // rounds, of about half of the batches
  int64_t input_bytes = int64_t{1} << 30;  // of all input sets of a workload
  double check_s = 4;  // of a workload and cache state; one call at least is checked
  double draw_s = 3;   // no further sets after it; at least 3 are drawn
  double energy_s =
      1;  // of each program's loop, first workload; 0: no energy, and no check by its loop
  double timeout_s = 60;  // of one batch
  bool cold = true, warm = true;
  std::string temp;             // scratch folders are made below it
  std::function<double()> now;  // our clock, seconds; empty: the steady clock. For tests
};

// One of the two programs: loaded in the runner as `program`.
struct MeasuredProgram {
  int program = 0;
  const Candidate* candidate = nullptr;
};

// One workload in one cache state.
struct Measurement {
  std::string workload;
  Axes axes;
  bool cold_l2 = true;
  PairedRounds rounds;                        // kept ones, in steps of 0.001 us
  int dropped = 0;                            // rounds whose clocks were held down
  std::string stopped_by;                     // "precision", "rounds" or "time"
  MedianEstimate baseline, candidate, ratio;  // ratio: baseline / candidate, above 1 is faster
  int checked = 0;                            // calls whose outputs were right
  double wall_s = 0;
  Value conditions;  // of the first and of the last batch
  // Joules a run, back to back with warm caches; 0: not known.
  double baseline_joules = 0, candidate_joules = 0;
};

struct Measured {
  StageReport report;                     // "measure"; its detail is the list below
  std::vector<Measurement> measurements;  // workload by workload, cold before warm
};

// Verdicts of its own: REWARD_HACK(timed-output) if an output of a timed call is wrong;
// REWARD_HACK(timer) if the times cannot be those of the calls (they sum to more than we waited,
// or the loop for energy takes far longer a run than they say); INFRA_ERROR if the clocks were
// held down in most rounds, or a reply is not what was asked for. The baseline may be the
// candidate itself, under one program number or two.
// Each item of the detail: {"workload", "unit": "us", "cold_l2", "rounds", "dropped", "stopped_by",
//  "baseline": {"id", "median", "p10", "p90", "ci95": [low, high], "samples"}, "candidate": the
//  same, "ratio": {"median", "ci95"}, "faster": true, false or null (the interval holds 1),
//  "percent_of_roofline", "bound", "bytes_per_s", "flops_per_s", "energy_j": {"baseline",
//  "candidate", "how"}, "checked", "conditions"}. What is not known is null; without `peaks` the
// percent is not.
[[nodiscard]] Measured ProveMeasure(const Case& for_case, const MeasuredProgram& baseline,
                                    const MeasuredProgram& candidate, Runner& runner,
                                    JudgeSession& judge, const std::optional<Peaks>& peaks,
                                    const MeasureOptions& options);

// The item of one measurement.
[[nodiscard]] Value ToValue(const Measurement& measurement, const Case& for_case,
                            const std::string& baseline_id, const std::string& candidate_id,
                            const std::optional<Peaks>& peaks);

}  // namespace kb
