#include "kb/case_test.h"

void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t cols = in.axis("cols");
  const double scale = in.scalar("scale");
  const std::vector<double>& x = in["x"];
  std::vector<double>& sum = out["sum"];
  std::vector<double>& magnitude = out.magnitude("sum");
  std::vector<double>& top = out["top"];
  kb::test::ParallelFor(in.axis("rows"), [&](int64_t r) {
    kb::test::Accumulator total;
    double absolute = 0;
    for (int64_t i = r * cols; i < (r + 1) * cols; ++i) {
      total += scale * x[i];
      absolute += std::abs(scale * x[i]);
      sum[i] = total;
      magnitude[i] = absolute;
      if (x[i] > x[r * cols + static_cast<int64_t>(top[r])]) top[r] = i - r * cols;
    }
  });
}
