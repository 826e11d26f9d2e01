#include "kb/case_test.h"

void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const std::vector<double>& x = in["x"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(in.axis("n"), [&](int64_t i) { y[i] = 2 * x[i] + 1; });
}
