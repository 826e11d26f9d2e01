#include <cmath>
#include <limits>

#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Normal;
using kb::test::Workload;
using kb::test::Workloads;

TEST(SoftmaxBf16, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(SoftmaxBf16, RowsSumToOne) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w);
    const int64_t cols = w.axis("cols");
    for (int64_t r = 0; r < w.axis("rows"); ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) sum += run["y"][r * cols + c];
      EXPECT_NEAR(sum, 1.0, 0.004) << w.label() << ", row " << r;
    }
  }
}

// exp overflows from 89 on: only a kernel that takes the maximum away first survives this.
TEST(SoftmaxBf16, LargeInputsDoNotOverflow) {
  for (const double mean : {300.0, -300.0, 30000.0}) {
    for (const Workload& w : Workloads()) {
      EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Normal(mean, 3)}}}).Matches()) << w.label();
    }
  }
}

TEST(SoftmaxBf16, EqualElementsShareEqually) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Constant(-5)}}});
    EXPECT_TRUE(run.Matches()) << w.label();
    for (const double y : run["y"]) ASSERT_EQ(y, run["y"][0]) << w.label();
  }
}

// A row whose only large element is at `place`: the maximum and the sum must see that place.
TEST(SoftmaxBf16, TheFirstAndTheLastElementOfARowCount) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    for (const int64_t place : {int64_t{0}, cols - 1}) {
      const kb::test::Run run(w, {.fill = {{"x", Each([cols, place](int64_t i) {
                                              const double peak =
                                                  150 + static_cast<double>(i / cols % 4);
                                              return i % cols == place ? peak : 0.0;
                                            })}}});
      EXPECT_TRUE(run.Matches()) << w.label() << ", place " << place;
      EXPECT_EQ(run["y"][place], 1.0) << w.label();
    }
  }
}

TEST(SoftmaxBf16, EachRowHasItsOwnMaximum) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    const kb::test::Run run(w, {.fill = {{"x", Each([cols](int64_t i) {
                                            return static_cast<double>(40 * (i / cols)) +
                                                   0.5 * static_cast<double>(i % cols % 7);
                                          })}}});
    EXPECT_TRUE(run.Matches()) << w.label();
  }
}

TEST(SoftmaxBf16, MaskedElementsBecomeZero) {
  const double masked = -std::numeric_limits<double>::infinity();
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    const kb::test::Run run(
        w, {.fill = {{"x", Each([cols, masked](int64_t i) {
                        return i % cols % 3 == 0 ? 0.25 * static_cast<double>(i % 5) : masked;
                      })}}});
    EXPECT_TRUE(run.Matches()) << w.label();
  }
}

}  // namespace
