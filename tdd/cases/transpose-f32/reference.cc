#include "kb/case_test.h"

// y[c][r] = x[r][c].
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t rows = in.axis("rows"), cols = in.axis("cols");
  const std::vector<double>& x = in["x"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(cols, [&](int64_t c) {
    for (int64_t r = 0; r < rows; ++r) y[c * rows + r] = x[r * cols + c];
  });
}
