#include "kb/case_test.h"

// y = (nibble - 8) * scale of its group. Element 2 i is the low nibble of byte i.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const std::vector<double>& q = in["q"];
  const std::vector<double>& scale = in["scale"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(static_cast<int64_t>(q.size()), [&](int64_t i) {
    const int byte = static_cast<int>(q[i]);
    y[2 * i] = (byte % 16 - 8) * scale[i / 64];
    y[2 * i + 1] = (byte / 16 - 8) * scale[i / 64];
  });
}
