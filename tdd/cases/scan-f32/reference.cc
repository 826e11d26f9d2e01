#include <cmath>

#include "kb/case_test.h"

// y[i] = x[0] + ... + x[i]; its magnitude is the sum of |x| so far.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const std::vector<double>& x = in["x"];
  std::vector<double>& y = out["y"];
  std::vector<double>& magnitude = out.magnitude("y");
  kb::test::Accumulator sum;
  double absolute = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    absolute += std::abs(x[i]);
    y[i] = sum;
    magnitude[i] = absolute;
  }
}
