#include "kb/case_test.h"

TEST(Scale, MatchesReference) {
  for (const kb::test::Workload& w : kb::test::Workloads()) {
    const kb::test::Run run(w);
    EXPECT_TRUE(run.Matches()) << w.label();
  }
}
