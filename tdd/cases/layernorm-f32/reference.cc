#include <cmath>

#include "kb/case_test.h"

// y = (x - mean) / sqrt(variance + eps) * gain + bias, row by row. What a kernel may lose grows
// with the size of x against the row's spread.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t cols = in.axis("cols");
  const double eps = in.scalar("eps");
  const std::vector<double>& x = in["x"];
  const std::vector<double>& gain = in["gain"];
  const std::vector<double>& bias = in["bias"];
  std::vector<double>& y = out["y"];
  std::vector<double>& magnitude = out.magnitude("y");
  kb::test::ParallelFor(in.axis("rows"), [&](int64_t r) {
    const double* row = &x[r * cols];
    const auto count = static_cast<double>(cols);
    kb::test::Accumulator sum, squares;
    double absolute = 0;
    for (int64_t c = 0; c < cols; ++c) {
      sum += row[c];
      absolute += std::abs(row[c]);
    }
    const double mean = sum / count;
    for (int64_t c = 0; c < cols; ++c) squares += (row[c] - mean) * (row[c] - mean);
    const double scale = 1 / std::sqrt(squares / count + eps);
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] = (row[c] - mean) * scale * gain[c] + bias[c];
      magnitude[r * cols + c] = absolute / count * scale * std::abs(gain[c]) + std::abs(bias[c]);
    }
  });
}
