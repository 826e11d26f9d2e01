// Nsight Compute's CSV as text (`ncu --csv --page raw` or `--page details`, printed or imported)
// to kernels and their metrics. Knows the format, not what a metric means for speed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct NcuMetric {
  double value = 0;  // in `unit`, as printed: Nsight Compute scales units by magnitude
  std::string unit;  // "%", "ms", "Kbyte", ...; "" if none is given
};

struct NcuKernel {
  int line = 0;  // 1-based, where it begins in the file
  std::string id, process, name, block, grid, compute_capability;  // "" if not given
  // By raw name ("dram__bytes_read.sum"). What has no number ("", nan, text) is not there. Of
  // the details page come the metrics of which the raw name is known, and those that the page
  // names so (--print-metric-name name).
  std::map<std::string, NcuMetric, std::less<>> metrics;

  // The number alone; nullopt if the report has none.
  [[nodiscard]] std::optional<double> Number(std::string_view metric) const;
  // A time in seconds; nullopt if there is none or its unit is no time.
  [[nodiscard]] std::optional<double> Seconds(std::string_view metric) const;
};

enum class NcuPage { kRaw, kDetails };

struct NcuReport {
  NcuPage page = NcuPage::kRaw;    // of the first table
  std::vector<NcuKernel> kernels;  // in the order of the file
  int other_lines = 0;             // "==PROF==" and what the program itself printed
};

struct NcuLimits {
  size_t max_bytes = 64u << 20;
  size_t max_kernels = 10000;
  size_t max_columns = 20000;
  size_t max_metrics = 1u << 20;  // that are kept, of all kernels together
};

// Keeps only metrics that `wanted` names, to save memory; all if it is empty. Reports that
// follow one another in a file are all read. Throws Error with the line number if the text is
// no such report, is cut off, or exceeds the limits.
[[nodiscard]] NcuReport ReadNcuCsv(std::string_view csv,
                                   const std::vector<std::string_view>& wanted = {},
                                   const NcuLimits& limits = {});

// The raw name of a metric of the details page: ("Occupancy", "Achieved Occupancy") ->
// "sm__warps_active.avg.pct_of_peak_sustained_active"; "" if it is not known.
[[nodiscard]] std::string_view RawMetricName(std::string_view section, std::string_view metric);

}  // namespace kb
