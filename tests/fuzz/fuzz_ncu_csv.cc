// Whatever the text: it is refused with one line, or every kernel stands on a line of the text,
// has finite numbers, and its advice is sound and the same whether all metrics are kept or only
// those that the rules read.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cli/advise.h"
#include "cli/advise_rules.h"
#include "kb/error.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckKernel(const kb::NcuKernel& kernel, int lines) {
  Require(kernel.line >= 1 && kernel.line <= lines);
  for (const auto& [name, metric] : kernel.metrics) Require(std::isfinite(metric.value));
  const kb::KernelAdvice advice = kb::Advise(kernel);
  Require(advice.also.size() <= 4);
  if (!advice.bound) return;
  for (const kb::Evidence& e : advice.bound->evidence) {
    Require(e.at_least ? e.value >= e.threshold : e.value < e.threshold);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const int lines = 1 + static_cast<int>(std::count(text.begin(), text.end(), '\n') +
                                         std::count(text.begin(), text.end(), '\r'));
  kb::NcuLimits limits;
  limits.max_kernels = 100;
  try {
    const kb::NcuReport all = kb::ReadNcuCsv(text, {}, limits);
    const kb::NcuReport some = kb::ReadNcuCsv(text, kb::AdviceMetrics(), limits);
    Require(all.kernels.size() == some.kernels.size() && !all.kernels.empty());
    for (size_t i = 0; i < all.kernels.size(); ++i) {
      CheckKernel(all.kernels[i], lines);
      const auto a = kb::Advise(all.kernels[i]), b = kb::Advise(some.kernels[i]);
      Require(a.bound.has_value() == b.bound.has_value());
      if (a.bound) Require(a.bound->rule == b.bound->rule);
    }
  } catch (const kb::Error& error) {
    Require(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
  return 0;
}
