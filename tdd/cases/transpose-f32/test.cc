#include "kb/case_test.h"

namespace {

using kb::test::Each;
using kb::test::Workload;
using kb::test::Workloads;

TEST(TransposeF32, MatchesReference) {
  for (int trial = 0; trial < kb::test::Trials(); ++trial) {
    for (const Workload& w : Workloads()) EXPECT_TRUE(kb::test::Run(w).Matches()) << w.label();
  }
}

// Each value tells where it came from.
TEST(TransposeF32, EveryElementLandsAtItsMirrorPlace) {
  for (const Workload& w : Workloads()) {
    const kb::test::Run run(
        w, {.fill = {{"x", Each([](int64_t i) { return static_cast<double>(i); })}}});
    const int64_t rows = w.axis("rows"), cols = w.axis("cols");
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        ASSERT_EQ(run["y"][c * rows + r], static_cast<double>(r * cols + c))
            << w.label() << ", row " << r << ", column " << c;
      }
    }
  }
}

TEST(TransposeF32, AColumnOfMarksBecomesARow) {
  for (const Workload& w : Workloads()) {
    const int64_t cols = w.axis("cols");
    const kb::test::Run run(
        w,
        {.fill = {{"x", Each([cols](int64_t i) { return i % cols == cols - 1 ? -1.0 : 0.0; })}}});
    EXPECT_EQ(run["y"], run.want("y")) << w.label();
  }
}

}  // namespace
