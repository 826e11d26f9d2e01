#include "kb/case_test.h"

namespace {

using kb::test::Constant;
using kb::test::Each;
using kb::test::Integers;
using kb::test::Uniform;
using kb::test::Workload;
using kb::test::Workloads;

TEST(GemmBf16, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

// Sums of -1, 0 and 1 are exact, so that one lost or misplaced product shows.
TEST(GemmBf16, SmallWholeNumbersAreExact) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"a", Integers(-1, 1)}, {"b", Integers(-1, 1)}}});
    EXPECT_EQ(run["c"], run.want("c")) << w.label();
  }
}

TEST(GemmBf16, OnesCountTheInnerDimension) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"a", Constant(1)}, {"b", Constant(1)}}});
    for (const double c : run["c"]) ASSERT_EQ(c, static_cast<double>(w.axis("k"))) << w.label();
  }
}

// Row i of A picks row i mod k of B.
TEST(GemmBf16, APickingMatrixCopiesRows) {
  for (const Workload& w : Workloads()) {
    const int64_t k = w.axis("k"), n = w.axis("n");
    const kb::test::Run run(
        w, {.fill = {{"a", Each([k](int64_t i) { return i / k % k == i % k ? 1.0 : 0.0; })}}});
    for (int64_t i = 0; i < w.axis("m") * n; ++i) {
      ASSERT_EQ(run["c"][i], run.in("b")[i / n % k * n + i % n]) << w.label() << ", place " << i;
    }
  }
}

// The last term of each sum is the only one.
TEST(GemmBf16, TheEndOfTheInnerDimensionCounts) {
  for (const Workload& w : Workloads()) {
    const int64_t k = w.axis("k");
    const kb::test::Run run(
        w, {.fill = {{"a", Each([k](int64_t i) {
                        return i % k == k - 1 ? static_cast<double>(i / k % 100 + 1) : 0.0;
                      })},
                     {"b", Constant(1)}}});
    EXPECT_EQ(run["c"], run.want("c")) << w.label();
  }
}

// Long sums of one sign: a kernel that keeps them in half precision is far off.
TEST(GemmBf16, SumsAreKeptInFullPrecision) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(w, {.fill = {{"a", Uniform(0, 8)}, {"b", Uniform(0, 8)}}});
    EXPECT_TRUE(run.Matches()) << w.label();
  }
}

}  // namespace
