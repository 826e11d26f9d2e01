// A measurement as evidence has it.
#include <cmath>

#include "tdd/measure.h"

namespace kb {
namespace {

// To 1 / `parts`, so that the shortest text that reads back is short.
double Rounded(double x, double parts) { return std::round(x * parts) / parts; }

// Shortest text that reads back; NaN and infinities: null.
Value Number(double x) {
  if (!std::isfinite(x)) return {};
  return x;
}

Value IntervalValue(const Interval& interval) {
  return Value(
      Value::List{Number(Rounded(interval.low, 1e6)), Number(Rounded(interval.high, 1e6))});
}

Value ProgramValue(const std::string& id, const MedianEstimate& estimate,
                   const std::vector<double>& samples) {
  Value::List list;
  for (const double sample : samples) list.emplace_back(sample);
  return Value(Value::Map{{"id", id},
                          {"median", Number(Rounded(estimate.value, 1e6))},
                          {"p10", Number(Rounded(Quantile(samples, 0.1), 1e6))},
                          {"p90", Number(Rounded(Quantile(samples, 0.9), 1e6))},
                          {"ci95", IntervalValue(estimate.ci95)},
                          {"samples", Value(std::move(list))}});
}

// Above 1, below 1, or neither can be said.
Value Faster(const Interval& ratio) {
  if (ratio.low > 1) return Value(true);
  if (ratio.high < 1) return Value(false);
  return Value();
}

Value Bound(bool known, const Roofline& roofline) {
  if (!known) return {};
  return roofline.compute_bound ? "compute" : "memory";
}

Value EnergyValue(const Measurement& m) {
  const auto joules = [](double j) { return Number(j > 0 ? Rounded(j, 1e9) : NAN); };
  return Value(Value::Map{{"baseline", joules(m.baseline_joules)},
                          {"candidate", joules(m.candidate_joules)},
                          {"how", "a run, back to back with warm caches"}});
}

}  // namespace

Value ToValue(const Measurement& m, const Case& for_case, const std::string& baseline_id,
              const std::string& candidate_id, const std::optional<Peaks>& peaks) {
  const std::optional<Required> required = RequiredOf(for_case, m.axes);
  Roofline roofline;
  if (required && peaks) roofline = RooflineOf(*required, for_case.flop_dtype, *peaks);
  const double us = m.candidate.value;
  const auto rate = [us](int64_t amount) {
    return Number(amount > 0 && us > 0 ? std::round(static_cast<double>(amount) / us * 1e6) : NAN);
  };
  const Value ratio = Value(Value::Map{{"median", Number(Rounded(m.ratio.value, 1e6))},
                                       {"ci95", IntervalValue(m.ratio.ci95)}});
  const bool known = roofline.time_us > 0 && us > 0;
  return Value(Value::Map{
      {"workload", m.workload},
      {"unit", "us"},
      {"cold_l2", m.cold_l2},
      {"rounds", static_cast<int64_t>(m.rounds.rounds())},
      {"dropped", m.dropped},
      {"stopped_by", m.stopped_by},
      {"baseline", ProgramValue(baseline_id, m.baseline, m.rounds.baseline)},
      {"candidate", ProgramValue(candidate_id, m.candidate, m.rounds.candidate)},
      {"ratio", ratio},
      {"faster", Faster(m.ratio.ci95)},
      {"percent_of_roofline", Number(known ? Rounded(100 * roofline.time_us / us, 100) : NAN)},
      {"bound", Bound(known, roofline)},
      {"bytes_per_s", rate(required ? required->bytes : 0)},
      {"flops_per_s", rate(required ? required->flops : 0)},
      {"energy_j", EnergyValue(m)},
      {"checked", m.checked},
      {"conditions", m.conditions}});
}

}  // namespace kb
