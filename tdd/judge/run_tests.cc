// Runs the case's tests, tells kb how each went, and finds tests that are worth nothing.
#include <unistd.h>

#include "tdd/judge/reference.h"
#include "tdd/judge/tally.h"
#include "tdd/judge/wire.h"

namespace kb::test::internal {
namespace {

std::string NameOf(const testing::TestInfo& info) {
  return std::string(info.test_suite_name()) + "." + info.name();
}

std::string Weakness() {
  const Tally& tally = TheTally();
  const Task& task = TheTask();
  if (tally.runs == 0) return "test.cc never runs the kernel: make a kb::test::Run";
  if (tally.unseen) return "test.cc makes a Run whose outputs nobody looks at";
  for (const TensorTask& output : task.outputs) {
    if (tally.looked_at.count(output.name) == 0) {
      return "test.cc never looks at output " + output.name;
    }
  }
  for (const WorkloadTask& workload : task.workloads) {
    if (tally.workloads.count(workload.workload.index()) == 0) {
      return "test.cc never runs workload " + workload.workload.label();
    }
  }
  return "";
}

void Finish() {
  Say("finish " + std::to_string(TheTally().runs) + (TheTally().changed ? " changed" : " same"));
}

class Reporter : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& info) override {
    name_ = NameOf(info);
    Say("in test " + name_);
    failure_.clear();
    runs_before_ = TheTally().runs;
  }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    if (failure_.empty()) failure_ = Where(result) + result.summary();
    if (!TheTask().first_failure) return;
    // GoogleTest holds a lock here: asking it for the test's name would never return.
    Say("test fail " + name_ + " " + OneLine(failure_));
    Finish();
    _exit(0);
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    const testing::TestResult& result = *info.result();
    Say("test " + std::string(result.Passed() ? "pass " : "fail ") + name_ + " " +
        OneLine(result.Skipped() ? "skipped" : failure_));
    if (result.Skipped()) Say("weak " + name_ + " skips: a test runs or it is no test");
    if (result.Passed() && TheTally().runs == runs_before_) {
      Say("weak " + name_ + " never runs the kernel: make a kb::test::Run");
    }
  }

 private:
  static std::string Where(const testing::TestPartResult& result) {
    if (result.file_name() == nullptr) return "";
    const std::string path = result.file_name();
    return path.substr(path.rfind('/') + 1) + ":" + std::to_string(result.line_number()) + ": ";
  }

  std::string name_ = "(outside-a-test)", failure_;
  int runs_before_ = 0;
};

}  // namespace

Tally& TheTally() {
  static Tally tally;
  return tally;
}

int RunTests() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Reporter);
  if (TheTask().mutant.empty() || TheTask().mutant == "reference") CheckThatInputsMatter();
  const int failed = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) Say("weak test.cc has no test");
  if (all.disabled_test_count() > 0) Say("weak test.cc has a disabled test");
  // A test that fails may rightly stop half-way.
  if (const std::string weakness = Weakness(); !weakness.empty()) {
    if (failed == 0 || TheTally().runs == 0 || TheTally().unseen) Say("weak " + weakness);
  }
  Finish();
  return failed;
}

}  // namespace kb::test::internal
