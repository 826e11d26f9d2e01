#include "kb/case_test.h"

// counts[b] = how many x are b.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const auto bins = static_cast<double>(in.axis("bins"));
  std::vector<kb::test::Accumulator> counts(in.axis("bins"));
  for (const double value : in["x"]) {
    if (value >= 0 && value < bins) counts[static_cast<size_t>(value)] += 1;
  }
  std::vector<double>& to = out["counts"];
  for (size_t b = 0; b < to.size(); ++b) to[b] = counts[b];
}
