#include <algorithm>
#include <cmath>

#include "kb/case_test.h"

// y = exp(x - max of the row) / the row's sum of that.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t cols = in.axis("cols");
  const std::vector<double>& x = in["x"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(in.axis("rows"), [&](int64_t r) {
    const double* row = &x[r * cols];
    const double largest = *std::max_element(row, row + cols);
    kb::test::Accumulator sum;
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] = std::exp(row[c] - largest);
      sum += y[r * cols + c];
    }
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] /= sum;
  });
}
