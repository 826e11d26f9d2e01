#include <cmath>

#include "kb/case_test.h"

// total = the sum of x; its magnitude is the sum of |x|.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const std::vector<double>& x = in["x"];
  kb::test::Accumulator sum;
  double magnitude = 0;
  for (const double value : x) {
    sum += value;
    magnitude += std::abs(value);
  }
  out["total"][0] = sum;
  out.magnitude("total")[0] = magnitude;
}
