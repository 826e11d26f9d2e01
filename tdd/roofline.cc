#include "tdd/roofline.h"

#include <algorithm>
#include <cstdio>

#include "tdd/measure.h"

namespace kb {
namespace {

// Why each: FloorUs in the header.
constexpr double kMemoryMargin = 1.10, kL2Factor = 8, kComputeMargin = 1.25;

double Us(double amount, double per_second) {
  return per_second > 0 && amount > 0 ? amount / per_second * 1e6 : 0;
}

// The peak that flops of this type count against; 0: none is measured.
double ComputePeak(const std::string& flop_dtype, const Peaks& peaks) {
  const std::optional<Dtype> dtype = ParseDtype(flop_dtype);
  const bool tensor = dtype == Dtype::kBf16 || dtype == Dtype::kF16;  // the same rate
  return tensor ? peaks.bf16_flops_per_s : 0;
}

std::optional<int64_t> NotNegative(const Expression& expression, const Axes& axes, const char* what,
                                   std::string* why) {
  const std::optional<int64_t> value = expression.Evaluate(axes, why);
  if (value && *value >= 0) return value;
  if (value && why != nullptr) *why = std::string(what) + " is " + std::to_string(*value);
  return std::nullopt;
}

std::optional<int64_t> SumBytes(const std::vector<TensorSpec>& tensors, const Axes& axes,
                                std::string* why) {
  int64_t sum = 0;
  for (const TensorSpec& tensor : tensors) {
    if (tensor.scalar) continue;
    const std::optional<int64_t> bytes = BytesOf(tensor, axes, why);
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

std::string Seconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f us", us);
  return text;
}

std::string ComputeNote(const Case& for_case, const Peaks& peaks) {
  if (ComputePeak(for_case.flop_dtype, peaks) > 0) return for_case.flop_dtype;
  if (for_case.flop_dtype.empty()) return "not counted: the case names no flop_dtype";
  return "not known: no peak of " + for_case.flop_dtype + " was measured; memory alone bounds";
}

Value NumberIf(bool known, double number) {
  if (!known) return {};
  return number;
}

struct Judged {
  Value line;
  Verdict verdict;
};

Judged Judge(const Case& for_case, const Measurement& m, const Peaks& peaks, int64_t l2_bytes) {
  std::string why;
  const std::optional<Required> required = RequiredOf(for_case, m.axes, &why);
  if (!required) {
    return {{}, {Status::kInvalidCase, "", "bytes or flops for " + m.workload + ": " + why}};
  }
  const Roofline roofline = RooflineOf(*required, for_case.flop_dtype, peaks);
  const double floor = FloorUs(*required, for_case.flop_dtype, peaks, l2_bytes, m.cold_l2);
  const double time = m.candidate.value, p10 = Quantile(m.rounds.candidate, 0.1);
  const std::optional<double> sol = SolScore(time, roofline.time_us, m.baseline.value);
  const bool known = roofline.time_us > 0 && time > 0;
  Judged judged;
  judged.line =
      Value(Value::Map{{"workload", m.workload},
                       {"cold_l2", m.cold_l2},
                       {"time_us", time},
                       {"p10_us", p10},
                       {"floor_us", floor},
                       {"roofline_us", NumberIf(known, roofline.time_us)},
                       {"percent_of_roofline", NumberIf(known, 100 * roofline.time_us / time)},
                       {"bound", roofline.compute_bound ? "compute" : "memory"},
                       {"sol_score", NumberIf(sol.has_value(), sol.value_or(0))}});
  if (!(std::min(time, p10) >= floor)) {
    judged.verdict = {Status::kRewardHack, "impossible-time",
                      m.workload + (m.cold_l2 ? " (cold L2): " : " (warm L2): ") +
                          Seconds(std::min(time, p10)) + " is below " + Seconds(floor) +
                          ", which the required bytes and flops take on this GPU: the work is "
                          "not done, or the case asks for less than it says"};
  }
  return judged;
}

}  // namespace

std::optional<Required> RequiredOf(const Case& for_case, const Axes& axes, std::string* why) {
  const std::optional<int64_t> bytes = NotNegative(for_case.bytes, axes, "bytes", why);
  if (!bytes) return std::nullopt;
  const std::optional<int64_t> flops = NotNegative(for_case.flops, axes, "flops", why);
  if (!flops) return std::nullopt;
  const std::optional<int64_t> in = SumBytes(for_case.inputs, axes, why);
  if (!in) return std::nullopt;
  const std::optional<int64_t> out = SumBytes(for_case.outputs, axes, why);
  if (!out) return std::nullopt;
  return Required{*bytes, *flops, *out, *in + *out};
}

Roofline RooflineOf(const Required& required, const std::string& flop_dtype, const Peaks& peaks) {
  const double peak = ComputePeak(flop_dtype, peaks);
  const double memory = Us(static_cast<double>(required.bytes), peaks.copy_bytes_per_s);
  const double compute = Us(static_cast<double>(required.flops), peak);
  return {std::max(memory, compute), compute > memory, peak > 0};
}

std::optional<double> SolScore(double time_us, double sol_us, double baseline_us) {
  if (!(sol_us > 0) || !(baseline_us > sol_us)) return std::nullopt;
  const double sum = 1 + (time_us - sol_us) / (baseline_us - sol_us);
  if (!(sum > 0)) return std::nullopt;
  return 1 / sum;
}

double FloorUs(const Required& required, const std::string& flop_dtype, const Peaks& peaks,
               int64_t l2_bytes, bool cold_l2) {
  const int64_t in_l2 = cold_l2 ? std::min(required.output_bytes, l2_bytes) : l2_bytes;
  const double bytes = static_cast<double>(required.bytes);
  const double memory = bytes - static_cast<double>(std::max<int64_t>(in_l2, 0));
  const double peak = peaks.copy_bytes_per_s;
  return std::max(
      {Us(memory, kMemoryMargin * peak), Us(bytes, kL2Factor * peak),
       Us(static_cast<double>(required.flops), kComputeMargin * ComputePeak(flop_dtype, peaks))});
}

StageReport ProvePlausible(const Case& for_case, const std::vector<Measurement>& measurements,
                           const Peaks& peaks, const Environment& environment) {
  StageReport report;
  report.name = "plausible";
  Value::List times;
  for (const Measurement& measurement : measurements) {
    Judged judged = Judge(for_case, measurement, peaks, environment.l2_bytes);
    if (report.verdict.passed()) report.verdict = judged.verdict;
    if (!judged.line.IsNull()) times.push_back(std::move(judged.line));
  }
  report.detail =
      Value(Value::Map{{"peaks", Value(Value::Map{{"copy_bytes_per_s", peaks.copy_bytes_per_s},
                                                  {"bf16_flops_per_s", peaks.bf16_flops_per_s},
                                                  {"how", peaks.how}})},
                       {"compute_peak", ComputeNote(for_case, peaks)},
                       {"times", Value(std::move(times))}});
  return report;
}

}  // namespace kb
