// What the tests have done so far: from it follows whether they are worth anything.
#pragma once

#include <set>
#include <string>

namespace kb::test::internal {

struct Tally {
  uint64_t draws = 0;               // runs begun; the number of each is its draw
  int runs = 0;                     // answered
  bool failed = false;              // one was answered with a failure: nothing is asked any more
  bool changed = false;             // a mutant changed some output
  bool unseen = false;              // a run went by with its outputs looked at by nobody
  std::set<int> workloads;          // that were run
  std::set<std::string> looked_at;  // outputs
};
[[nodiscard]] Tally& TheTally();

// The two things a judge does. Exit codes.
[[nodiscard]] int RunTests();
[[nodiscard]] int ServeSession();

}  // namespace kb::test::internal
