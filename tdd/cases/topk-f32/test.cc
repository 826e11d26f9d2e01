#include <limits>

#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Integers;
using kb::test::Workload;
using kb::test::Workloads;

TEST(TopkF32, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(TopkF32, ColumnsPointAtTheValuesAndValuesNeverRise) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w);
    const int64_t cols = w.axis("cols"), k = w.axis("k");
    for (int64_t i = 0; i < w.axis("rows") * k; ++i) {
      const double column = run["columns"][i];
      ASSERT_TRUE(column >= 0 && column < static_cast<double>(cols)) << w.label();
      ASSERT_EQ(run["values"][i], run.in("x")[i / k * cols + static_cast<int64_t>(column)]);
      if (i % k > 0) ASSERT_LE(run["values"][i], run["values"][i - 1]) << w.label();
    }
  }
}

TEST(TopkF32, OfEqualsTheLowestColumnsWin) {
  for (const double value : {0.0, -4.0}) {
    for (const Workload& w : Workloads()) {
      const kb::test::Run run(w, {.fill = {{"x", Constant(value)}}});
      for (int64_t i = 0; i < w.axis("rows") * w.axis("k"); ++i) {
        ASSERT_EQ(run["columns"][i], static_cast<double>(i % w.axis("k"))) << w.label();
      }
    }
  }
}

// Few different values: most of the order is decided by the column.
TEST(TopkF32, TiesAmongFewValuesAreInOrder) {
  for (const Workload& w : Workloads()) {
    EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Integers(-2, 2)}}}).Matches()) << w.label();
    EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Integers(0, 40)}}}).Matches()) << w.label();
  }
}

TEST(TopkF32, RisingAndFallingRowsAreTakenFromTheRightEnd) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols"), k = w.axis("k");
    const kb::test::Run rising(
        w, {.fill = {{"x", Each([cols](int64_t i) { return static_cast<double>(i % cols); })}}});
    const kb::test::Run falling(
        w, {.fill = {{"x", Each([cols](int64_t i) { return static_cast<double>(-(i % cols)); })}}});
    for (int64_t i = 0; i < w.axis("rows") * k; ++i) {
      ASSERT_EQ(rising["columns"][i], static_cast<double>(cols - 1 - i % k)) << w.label();
      ASSERT_EQ(falling["columns"][i], static_cast<double>(i % k)) << w.label();
    }
  }
}

TEST(TopkF32, NegativeZeroEqualsZeroAndInfinitiesHaveTheirPlaces) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Workload& w : Workloads()) {
    EXPECT_TRUE(
        kb::test::Run(w, {.fill = {{"x", Each([](int64_t i) { return i % 3 == 0 ? -0.0 : 0.0; })}}})
            .Matches())
        << w.label();
    const kb::test::Run run(w, {.fill = {{"x", Constant(-infinity)}}});
    for (int64_t i = 0; i < w.axis("rows") * w.axis("k"); ++i) {
      ASSERT_EQ(run["columns"][i], static_cast<double>(i % w.axis("k"))) << w.label();
    }
  }
}

}  // namespace
