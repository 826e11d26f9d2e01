#include <cstdio>
#include <stdexcept>
#include <thread>

#include "kb/case_test.h"

namespace {

TEST(Faulty, GoesWrong) {
  const std::vector<kb::test::Workload>& all = kb::test::Workloads();
  const int64_t mode = all[0].axis("mode");
  if (mode == 20) GTEST_SKIP();
  if (mode == 21) abort();
  while (mode == 22) std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::string much(1 << 20, 'x');
  while (mode == 23) std::fputs(much.c_str(), stdout);
  if (mode == 24) return;
  if (mode == 25) const kb::test::Run run(all[0]);
  for (const kb::test::Workload& w : all) {
    if (mode == 26 && w.index() > 0) break;
    const kb::test::Run run(w);
    if (mode == 27) EXPECT_TRUE(run.Matches("y"));
    if (mode == 28) throw std::runtime_error("thrown by a test");
    if (mode == 29) EXPECT_EQ(run["y"].size() + run["z"].size(), 2 * run.want("y").size());
    if (mode == 30) EXPECT_EQ(run["y"], std::vector<double>()) << run["z"][0];
    if (mode != 27 && mode != 29) EXPECT_TRUE(run.Matches());
  }
}

TEST(Faulty, FillsAsTheTestSays) {
  const kb::test::Workload& w = kb::test::Workloads()[1];
  const kb::test::Run run(w, {.fill = {{"x", kb::test::Values({1, 2, 0.1})}}});
  EXPECT_EQ(run.in("x")[1], 2);
  EXPECT_EQ(run.in("x")[5], 0.1f);  // as f32 has it
  EXPECT_EQ(run["y"][4], 4);
}

}  // namespace
