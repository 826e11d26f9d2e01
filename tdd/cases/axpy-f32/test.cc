#include <cmath>

#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Workload;
using kb::test::Workloads;

TEST(AxpyF32, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(AxpyF32, SmallWholeNumbersAreExact) {
  const kb::test::RunOptions whole = {
      .fill = {{"x", Each([](int64_t i) { return static_cast<double>(2 * (i % 1013) - 700); })},
               {"y", Each([](int64_t i) { return static_cast<double>(i); })}}};
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, whole);
    EXPECT_EQ(run["z"], run.want("z")) << w.label();
  }
}

TEST(AxpyF32, ZeroTimesAnythingLeavesY) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"x", Constant(0)}}});
    EXPECT_EQ(run["z"], run.in("y")) << w.label();
  }
}

TEST(AxpyF32, LargeAndTinyValuesKeepTheirScale) {
  const kb::test::RunOptions wide = {.fill = {{"x", Each([](int64_t i) {
                                                 return std::ldexp(i % 2 == 0 ? 1.0 : -1.0,
                                                                   static_cast<int>(i % 241) - 120);
                                               })},
                                              {"y", Constant(0)}}};
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, wide);
    EXPECT_EQ(run["z"], run.want("z")) << w.label();
  }
}

}  // namespace
