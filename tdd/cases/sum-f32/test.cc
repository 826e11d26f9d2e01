#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Integers;
using kb::test::Workload;
using kb::test::Workloads;

TEST(SumF32, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

// Whole numbers below 2^24 add exactly in any order, so that one lost element shows.
TEST(SumF32, WholeNumbersAddExactly) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Integers(1, 40)}}});
    EXPECT_EQ(run["total"][0], run.want("total")[0]) << w.label();
  }
}

TEST(SumF32, CountsEachElementOnce) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Constant(1)}}});
    EXPECT_EQ(run["total"][0], static_cast<double>(w.axis("n"))) << w.label();
  }
}

TEST(SumF32, TheFirstAndTheLastElementAreSeen) {
  for (const Workload& w : Workloads()) {
    const int64_t last = w.axis("n") - 1;
    const kb::test::Run run(w, {.fill = {{"x", Each([last](int64_t i) {
                                            return (i == 0 ? 3.0 : 0.0) + (i == last ? 5.0 : 0.0);
                                          })}}});
    EXPECT_EQ(run["total"][0], 8.0) << w.label();
  }
}

TEST(SumF32, OppositesCancel) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(
        w, {.fill = {{"x", Each([](int64_t i) { return i % 2 == 0 ? 7.0 : -7.0; })}}});
    EXPECT_EQ(run["total"][0], w.axis("n") % 2 == 0 ? 0.0 : 7.0) << w.label();
  }
}

}  // namespace
