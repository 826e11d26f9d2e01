// How long `kb index` and `kb search` take as whole processes.
#pragma once

#include <string>
#include <vector>

#include "bench/process.h"

namespace kb::bench {

struct Target {
  std::string kb;      // the program
  std::string kb_dir;  // the index
  std::string root;    // what is indexed
};

struct IndexRuns {
  std::vector<Run> cold, unchanged, one_file;
};

// Indexes from nothing `colds` times; then with nothing changed, then with a line more in one of
// `paths`, `repeats` times each.
[[nodiscard]] IndexRuns MeasureIndex(const Target& target, const std::vector<std::string>& paths,
                                     int colds, int repeats);

// Each question `passes` times, pass by pass; by question.
[[nodiscard]] std::vector<std::vector<Run>> MeasureSearch(const Target& target,
                                                          const std::vector<std::string>& questions,
                                                          int passes);

// Passages in the index, and its size on disk.
struct Extent {
  size_t passages = 0;
  double size_mib = 0;
};
[[nodiscard]] Extent ExtentOf(const std::string& kb_dir);

struct GrowthRow {
  Extent extent;
  double index_s = 0, index_cpu_s = 0, one_file_s = 0, one_file_cpu_s = 0;
  double p50_ms = 0, p99_ms = 0, cpu_p50_ms = 0;
  double index_peak_mib = 0, search_peak_mib = 0;
};

// With a synthetic corpus of about `passages` below `work`, removed afterwards.
[[nodiscard]] GrowthRow MeasureGrowth(const std::string& kb, const std::string& work, int passages);

}  // namespace kb::bench
