#include <cmath>

#include "kb/case_test.h"

// y = gate / (1 + exp(-gate)) * up, where a row of x is all of gate, then all of up.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t cols = in.axis("cols");
  const std::vector<double>& x = in["x"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(in.axis("rows"), [&](int64_t r) {
    const double* gate = &x[2 * r * cols];
    const double* up = gate + cols;
    for (int64_t c = 0; c < cols; ++c) {
      y[r * cols + c] = gate[c] / (1 + std::exp(-gate[c])) * up[c];
    }
  });
}
