#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Integers;
using kb::test::Workload;
using kb::test::Workloads;

TEST(ScanF32, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

// Whole numbers below 2^24 add exactly in any order, so that one lost element shows.
TEST(ScanF32, WholeNumbersAddExactly) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Integers(-20, 40)}}});
    EXPECT_EQ(run["y"], run.want("y")) << w.label();
  }
}

TEST(ScanF32, OnesCountTheirPlaces) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Constant(1)}}});
    for (size_t i = 0; i < run["y"].size(); ++i) {
      ASSERT_EQ(run["y"][i], static_cast<double>(i + 1)) << w.label() << ", place " << i;
    }
  }
}

TEST(ScanF32, TheFirstElementReachesTheLast) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w,
                            {.fill = {{"x", Each([](int64_t i) { return i == 0 ? 3.0 : 0.0; })}}});
    for (const double y : run["y"]) ASSERT_EQ(y, 3.0) << w.label();
  }
}

TEST(ScanF32, TheLastElementCountsForItselfAlone) {
  for (const Workload& w : Workloads()) {
    const int64_t last = w.axis("n") - 1;
    const kb::test::Run run(
        w, {.fill = {{"x", Each([last](int64_t i) { return i == last ? 5.0 : 0.0; })}}});
    EXPECT_EQ(run["y"], run.in("x")) << w.label();
  }
}

TEST(ScanF32, SumsOfNonNegativesNeverFall) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Integers(0, 3)}}});
    for (size_t i = 1; i < run["y"].size(); ++i) {
      ASSERT_GE(run["y"][i], run["y"][i - 1]) << w.label() << ", place " << i;
    }
  }
}

}  // namespace
