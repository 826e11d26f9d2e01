#include <cmath>

#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Normal;
using kb::test::Workload;
using kb::test::Workloads;

TEST(LayernormF32, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(LayernormF32, RowsHaveMeanZeroAndVarianceOneBeforeGainAndBias) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    if (cols == 1) continue;  // no variance
    const kb::test::Run run(w, {.fill = {{"gain", Constant(1)}, {"bias", Constant(0)}}});
    for (int64_t r = 0; r < w.axis("rows"); ++r) {
      double sum = 0, squares = 0;
      for (int64_t c = 0; c < cols; ++c) {
        sum += run["y"][r * cols + c];
        squares += std::pow(run["y"][r * cols + c], 2);
      }
      EXPECT_NEAR(sum / static_cast<double>(cols), 0, 1e-5) << w.label() << ", row " << r;
      EXPECT_NEAR(squares / static_cast<double>(cols), 1, 1e-4) << w.label() << ", row " << r;
    }
  }
}

// The mean of the squares less the square of the mean has no digit left here.
TEST(LayernormF32, ALargeMeanDoesNotDrownTheSpread) {
  for (const double mean : {1000.0, -3000.0}) {
    for (const Workload& w : Workloads()) {
      EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Normal(mean, 1)}}}).Matches()) << w.label();
    }
  }
}

TEST(LayernormF32, EqualElementsGiveTheBias) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Constant(0)}}});
    const int64_t cols = w.axis("cols");
    for (size_t i = 0; i < run["y"].size(); ++i) {
      ASSERT_EQ(run["y"][i], run.in("bias")[i % cols]) << w.label() << ", place " << i;
    }
  }
}

TEST(LayernormF32, EachRowHasItsOwnMeanAndScale) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    const kb::test::Run run(w, {.fill = {{"x", Each([cols](int64_t i) {
                                            const int64_t r = i / cols, c = i % cols;
                                            return static_cast<double>(r % 7 - 3) * 4 +
                                                   std::ldexp(static_cast<double>(c % 13 - 6),
                                                              static_cast<int>(r % 5));
                                          })}}});
    EXPECT_TRUE(run.Matches()) << w.label();
  }
}

TEST(LayernormF32, TheFirstAndTheLastElementOfARowCount) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    for (const int64_t place : {int64_t{0}, cols - 1}) {
      const kb::test::Run run(
          w, {.fill = {{"x", Each([cols, place](int64_t i) {
                          return i % cols == place ? 50.0 : static_cast<double>(i % 3) * 0.125;
                        })}}});
      EXPECT_TRUE(run.Matches()) << w.label() << ", place " << place;
    }
  }
}

TEST(LayernormF32, TinyRowsFeelEpsilon) {
  for (const Workload& w : Workloads()) {
    EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Normal(0, 0.002)}}}).Matches()) << w.label();
  }
}

}  // namespace
