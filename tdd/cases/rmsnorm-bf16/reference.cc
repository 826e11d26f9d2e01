#include <cmath>

#include "kb/case_test.h"

// y = x / sqrt(mean of x^2 + eps) * w, row by row.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t cols = in.axis("cols");
  const double eps = in.scalar("eps");
  const std::vector<double>& x = in["x"];
  const std::vector<double>& w = in["w"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(in.axis("rows"), [&](int64_t r) {
    const double* row = &x[r * cols];
    kb::test::Accumulator squares;
    for (int64_t c = 0; c < cols; ++c) squares += row[c] * row[c];
    const double scale = 1 / std::sqrt(squares / static_cast<double>(cols) + eps);
    for (int64_t c = 0; c < cols; ++c) y[r * cols + c] = row[c] * scale * w[c];
  });
}
