#include <numeric>

#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Integers;
using kb::test::Workload;
using kb::test::Workloads;

double Total(const std::vector<double>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

TEST(Histogram256, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(Histogram256, CountsAddUpToTheNumberOfValues) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w);
    EXPECT_EQ(Total(run["counts"]), static_cast<double>(w.axis("n"))) << w.label();
  }
}

// All in one bin: every addition meets every other.
TEST(Histogram256, EqualValuesFallIntoOneBin) {
  for (const int bin : {0, 77, 255}) {
    for (const Workload& w : Workloads()) {
      const kb::test::Run run(w, {.fill = {{"x", Constant(bin)}}});
      EXPECT_EQ(run["counts"][bin], static_cast<double>(w.axis("n"))) << w.label();
      EXPECT_EQ(Total(run["counts"]), static_cast<double>(w.axis("n"))) << w.label();
    }
  }
}

TEST(Histogram256, ValuesOutsideTheBinsAreNotCounted) {
  for (const Workload& w : Workloads()) {
    EXPECT_TRUE(kb::test::Run(w, {.fill = {{"x", Integers(-300, 600)}}}).Matches()) << w.label();
    const kb::test::Run run(
        w, {.fill = {{"x", Each([](int64_t i) { return i % 2 == 0 ? -1.0 : 256.0; })}}});
    EXPECT_EQ(Total(run["counts"]), 0.0) << w.label();
  }
}

TEST(Histogram256, TheFirstAndTheLastValueAreSeen) {
  for (const Workload& w : Workloads()) {
    const int64_t last = w.axis("n") - 1;
    const kb::test::Run run(w, {.fill = {{"x", Each([last](int64_t i) {
                                            return i == last ? 255.0 : i == 0 ? 9.0 : 100.0;
                                          })}}});
    EXPECT_EQ(run["counts"], run.want("counts")) << w.label();
  }
}

TEST(Histogram256, RunsOfEachBinAreCounted) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(
        w, {.fill = {{"x", Each([](int64_t i) { return static_cast<double>(i / 5 % 256); })}}});
    EXPECT_EQ(run["counts"], run.want("counts")) << w.label();
  }
}

}  // namespace
