#include "kb/case_test.h"

TEST(Prefix, MatchesReference) {
  for (const kb::test::Workload& w : kb::test::Workloads()) {
    const kb::test::Run run(w);
    EXPECT_TRUE(run.Matches());
  }
}

TEST(Prefix, OfZerosIsZero) {
  const kb::test::Run run(kb::test::Workloads()[1], {.fill = {{"x", kb::test::Constant(0)}}});
  for (double sum : run["sum"]) ASSERT_EQ(sum, 0);
}
