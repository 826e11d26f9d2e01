#include "kb/case_test.h"

// z = a x + y, element by element.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const double a = in.scalar("a");
  const std::vector<double>& x = in["x"];
  const std::vector<double>& y = in["y"];
  std::vector<double>& z = out["z"];
  std::vector<double>& magnitude = out.magnitude("z");
  kb::test::ParallelFor(in.axis("n"), [&](int64_t i) {
    z[i] = a * x[i] + y[i];
    magnitude[i] = std::abs(a * x[i]) + std::abs(y[i]);
  });
}
