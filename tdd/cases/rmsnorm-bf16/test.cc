#include <cmath>

#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Workload;
using kb::test::Workloads;

TEST(RmsnormBf16, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(RmsnormBf16, RowsHaveUnitMeanSquareWhereTheWeightIsOne) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"w", Constant(1)}, {"x", kb::test::Normal(0, 3)}}});
    const int64_t cols = w.axis("cols");
    for (int64_t r = 0; r < w.axis("rows"); ++r) {
      double squares = 0;
      for (int64_t c = 0; c < cols; ++c) squares += std::pow(run["y"][r * cols + c], 2);
      EXPECT_NEAR(squares / static_cast<double>(cols), 1.0, 0.01) << w.label() << ", row " << r;
    }
  }
}

// Rows of very different size: a row that takes its neighbour's scale is far off.
TEST(RmsnormBf16, EachRowHasItsOwnScale) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    const kb::test::Run run(w, {.fill = {{"x", Each([cols](int64_t i) {
                                            const int64_t r = i / cols, c = i % cols;
                                            return std::ldexp(
                                                1.0 + 0.25 * static_cast<double>(c % 3),
                                                static_cast<int>(r % 5) * 2);
                                          })}}});
    EXPECT_TRUE(run.Matches()) << w.label();
  }
}

// One element of the row rules its scale: each place must be summed, the last one too.
TEST(RmsnormBf16, TheFirstAndTheLastElementOfARowCount) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    for (const int64_t place : {int64_t{0}, cols - 1}) {
      const kb::test::Run run(w, {.fill = {{"x", Each([cols, place](int64_t i) {
                                              return i % cols == place ? 96.0 : 0.0625;
                                            })}}});
      EXPECT_TRUE(run.Matches()) << w.label() << ", place " << place;
    }
  }
}

TEST(RmsnormBf16, LargeRowsDoNotOverflowAndTinyOnesFeelEpsilon) {
  for (const double size : {20000.0, 0.001}) {
    for (const Workload& w : Workloads()) {
      EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", kb::test::Normal(0, size)}}}).Matches())
          << w.label();
    }
  }
}

TEST(RmsnormBf16, ARowOfZerosStaysZero) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Constant(0)}}});
    for (const double y : run["y"]) ASSERT_EQ(y, 0.0) << w.label();
  }
}

}  // namespace
