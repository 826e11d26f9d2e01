#include "cli/trace_tree.h"

#include <gtest/gtest.h>

#include <string>

namespace kb {
namespace {

Trace TraceOf(const std::vector<std::pair<std::string, std::string>>& parents) {
  Trace trace;
  for (const auto& [id, parent] : parents) {
    trace.attempts.emplace_back();
    trace.attempts.back().id = id;
    trace.attempts.back().parent = parent;
  }
  return trace;
}

std::string Order(const Trace& trace) {
  std::string order;
  for (const AttemptNode& node : AttemptTree(trace)) {
    order += trace.attempts[node.attempt].id + std::to_string(node.depth) + " ";
  }
  return order;
}

TEST(AttemptTree, ParentsComeBeforeChildren) {
  EXPECT_EQ(Order(TraceOf({{"c", "b"}, {"a", ""}, {"b", "a"}, {"d", "a"}})), "a0 b1 c2 d1 ");
}

TEST(AttemptTree, EveryAttemptOccursOnceEvenInCycles) {
  EXPECT_EQ(Order(TraceOf({{"a", "b"}, {"b", "a"}, {"c", "c"}, {"d", "gone"}})), "d0 a0 b1 c0 ");
  EXPECT_EQ(Order(TraceOf({{"a", ""}, {"a", ""}, {"b", "a"}})), "a0 b1 a0 ");
  EXPECT_EQ(Order(TraceOf({{"", ""}, {"", ""}})), "0 0 ");
  EXPECT_EQ(Order({}), "");
}

TEST(AttemptTree, ALongChainNeedsNoStack) {
  std::vector<std::pair<std::string, std::string>> chain = {{"0", ""}};
  for (int i = 1; i < 10000; ++i) chain.emplace_back(std::to_string(i), std::to_string(i - 1));
  const Trace trace = TraceOf(chain);
  EXPECT_EQ(AttemptTree(trace).back().depth, 9999);
}

}  // namespace
}  // namespace kb
