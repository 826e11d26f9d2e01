#include <cmath>
#include <stdexcept>
#include <thread>

#include "kb/case_test.h"

void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const std::vector<double>& x = in["x"];
  const int64_t mode = in.axis("mode");
  for (size_t i = 0; i < x.size(); ++i) {
    out["y"][i] = mode == 1 ? 1 : 2 * x[i];  // 1: the same for all inputs
    out["z"][i] = 3 * x[i];
  }
  if (mode == 2) throw std::runtime_error("no answer");
  if (mode == 3) abort();
  if (mode == 4) out["y"].back() = std::nan("");
  if (mode == 5) out["y"].back() = 1e39;  // no f32
  if (mode == 6) out["z"].pop_back();
  if (mode == 7) out["nothing"][0] = 1;
  if (mode == 8) exit(0);
  while (mode == 9) std::this_thread::sleep_for(std::chrono::seconds(1));
}
