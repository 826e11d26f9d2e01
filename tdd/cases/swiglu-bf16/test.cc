#include <cmath>

#include "kb/case_test.h"

namespace {

using kb::test::Each;
using kb::test::Normal;
using kb::test::Workload;
using kb::test::Workloads;

// Gate and up of a row, each from its column.
template <class Gate, class Up>
kb::test::RunOptions Filled(int64_t cols, Gate gate, Up up) {
  return {.fill = {{"x", Each([=](int64_t i) {
                      const int64_t place = i % (2 * cols);
                      return place < cols ? gate(place) : up(place - cols);
                    })}}};
}

TEST(SwigluBf16, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(SwigluBf16, AGateOfZeroClosesAndAnUpOfZeroSilences) {
  const auto zero = [](int64_t) { return 0.0; };
  const auto some = [](int64_t c) { return 1.0 + static_cast<double>(c % 5); };
  for (const Workload& w : Workloads()) {
    const kb::test::Run closed(w, Filled(w.axis("cols"), zero, some));
    for (const double y : closed["y"]) ASSERT_EQ(y, 0.0) << w.label();
    const kb::test::Run silent(w, Filled(w.axis("cols"), some, zero));
    for (const double y : silent["y"]) ASSERT_EQ(y, 0.0) << w.label();
  }
}

// silu(g) is g to bf16's precision from g = 8 on, so that up is only scaled by a power of two.
TEST(SwigluBf16, AnOpenGateScalesUpExactly) {
  const auto open = [](int64_t) { return 64.0; };
  const auto up = [](int64_t c) { return static_cast<double>(c % 251) - 125; };
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, Filled(w.axis("cols"), open, up));
    for (size_t i = 0; i < run["y"].size(); ++i) {
      const auto c = static_cast<int64_t>(i) % w.axis("cols");
      ASSERT_EQ(run["y"][i], 64 * up(c)) << w.label() << ", place " << i;
    }
  }
}

// exp(-g) overflows for g below -88: the answer is then 0, not NaN.
TEST(SwigluBf16, VeryNegativeGatesGiveZeroNotNan) {
  for (const double size : {40.0, 1000.0, 1e20}) {
    for (const Workload& w : Workloads()) {
      EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Normal(0, size)}}}).Matches()) << w.label();
    }
  }
}

TEST(SwigluBf16, NegativeGatesKeepTheirRelativePrecision) {
  const auto gate = [](int64_t c) { return -0.25 * static_cast<double>(c % 64) - 1; };
  const auto up = [](int64_t c) { return c % 2 == 0 ? 3.0 : -5.0; };
  for (const Workload& w : Workloads()) {
    EXPECT_TRUE(kb::test::Run(w, Filled(w.axis("cols"), gate, up)).Matches()) << w.label();
  }
}

}  // namespace
