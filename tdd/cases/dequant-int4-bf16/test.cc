#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Workload;
using kb::test::Workloads;

TEST(DequantInt4Bf16, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

TEST(DequantInt4Bf16, AScaleOfOneGivesTheIntegers) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"scale", Constant(1)}}});
    const std::vector<double>& q = run.in("q");
    for (size_t i = 0; i < q.size(); ++i) {
      const int byte = static_cast<int>(q[i]);
      ASSERT_EQ(run["y"][2 * i], byte % 16 - 8) << w.label() << ", byte " << i;
      ASSERT_EQ(run["y"][2 * i + 1], byte / 16 - 8) << w.label() << ", byte " << i;
    }
  }
}

TEST(DequantInt4Bf16, EightIsZeroAtAnyScale) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"q", Constant(0x88)}}});
    for (const double y : run["y"]) ASSERT_EQ(y, 0.0) << w.label();
  }
}

// Each group scaled by another power of two: a neighbour's scale is off by a factor of 2 or more.
TEST(DequantInt4Bf16, EachGroupTakesItsOwnScale) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(
        w, {.fill = {{"q", Constant(0x9f)}, {"scale", Each([](int64_t i) {
                                               return static_cast<double>(1 << i % 11) *
                                                      (i % 2 == 0 ? 1 : -1);
                                             })}}});
    EXPECT_EQ(run["y"], run.want("y")) << w.label();
  }
}

TEST(DequantInt4Bf16, EveryByteValueInEveryPlace) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(
        w, {.fill = {
                {"q", Each([](int64_t i) { return static_cast<double>((37 * i + i / 64) % 256); })},
                {"scale", Constant(0.5)}}});
    EXPECT_EQ(run["y"], run.want("y")) << w.label();
  }
}

}  // namespace
