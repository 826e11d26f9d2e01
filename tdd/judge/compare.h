// How far outputs are from the reference, in double, so that NaN fails.
#pragma once

#include <string>
#include <vector>

#include "tdd/judge/task.h"

namespace kb::test::internal {

struct Difference {
  int64_t count = 0, matched = 0, nonfinite = 0;  // elements: in all | within the tolerance | NaN
                                                  // or infinite where the reference is finite
  double max_abs = 0, max_rel = 0, max_ulp = 0;   // of the finite ones; rel where want is not 0
  int64_t worst = -1;                             // flat index; -1: all equal
  double got = 0, want = 0, worst_allowed = 0;    // there
  [[nodiscard]] bool passed() const { return matched == count; }
};

// `want` is not rounded; `magnitude` may be null. On all cores.
[[nodiscard]] Difference Compare(const Format& format, const Allowed& allowed,
                                 const std::vector<double>& want,
                                 const std::vector<double>* magnitude,
                                 const std::vector<double>& got);

// "compare OUTPUT ..." for kb, and for people: "y[12] is 3, not 2 (...)".
[[nodiscard]] std::string CompareLine(int workload, const std::string& output,
                                      const Difference& difference);
[[nodiscard]] std::string Describe(const std::string& output, const std::vector<int64_t>& shape,
                                   const Difference& difference);

}  // namespace kb::test::internal
