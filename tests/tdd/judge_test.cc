// The judge of two cases under tests/data/tdd/cases, with sources of outputs that are plain
// functions: no GPU.
#include "tdd/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "kb/file.h"
#include "tdd/scratch.h"
#include "tests/tdd/judge_folder.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kTimeoutS = 20;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Case LoadSample(const std::string& name) {
  const std::string folder = std::string(KB_SOURCE_DIR) + "/tests/data/tdd/cases/" + name;
  LoadedCase loaded = LoadCase(folder);
  EXPECT_TRUE(loaded.ok()) << name;
  return std::move(loaded.value);
}

template <class T>
std::vector<T> ReadValues(const std::string& path) {
  const std::string bytes = ReadFile(path, nullptr, int64_t{1} << 30).value_or("");
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
void WriteValues(const std::string& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

struct Prefix {
  std::vector<float> sum;
  std::vector<int32_t> top;
};

// A right kernel, in single precision.
Prefix ComputePrefix(const std::vector<float>& x, int64_t cols) {
  Prefix out{x, std::vector<int32_t>(x.size() / static_cast<size_t>(cols))};
  for (int64_t r = 0; r < static_cast<int64_t>(out.top.size()); ++r) {
    float total = 0;
    for (int64_t c = 0; c < cols; ++c) {
      const float value = x[r * cols + c];
      out.sum[r * cols + c] = total += 0.1f * value;
      if (value > x[r * cols + out.top[r]]) out.top[r] = static_cast<int32_t>(c);
    }
  }
  return out;
}

using Spoiler = std::function<void(int workload, Prefix* out)>;

// A judge is built once for all tests of this file.
class JudgeTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new Scratch(::testing::TempDir());
    prefix_ = new Case(LoadSample("prefix-f32"));
    faulty_ = new Case(LoadSample("faulty-f32"));
  }
  static void TearDownTestSuite() {
    EXPECT_THAT(LeftBehind(), IsEmpty());
    delete scratch_;
    delete prefix_;
    delete faulty_;
  }

  static std::string Temp() { return scratch_->path(); }
  static std::vector<std::string> LeftBehind() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(Temp())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  static std::string Built(const Case& for_case) {
    const BuiltJudge built = BuildJudge(for_case, SharedJudges());
    EXPECT_EQ(VerdictName(built.verdict), "PASSED") << built.verdict.message;
    return built.path;
  }

  static TestReport RunPrefix(const Spoiler& spoil, bool first_failure = false) {
    auto source = [&spoil](int workload, const std::string& folder) {
      const int64_t cols = prefix_->check[workload].axes.at("cols");
      Prefix out = ComputePrefix(ReadValues<float>(folder + "/in.x"), cols);
      spoil(workload, &out);
      WriteValues(folder + "/out.sum", out.sum);
      WriteValues(folder + "/out.top", out.top);
      return RunReply{};
    };
    return RunTests(Built(*prefix_), *prefix_, source, "", 7, first_failure, kTimeoutS, Temp());
  }
  static TestReport Mutate(const std::string& mutant) {
    auto never = [](int, const std::string&) {
      ADD_FAILURE() << "a built-in mutant asks nobody";
      return RunReply{};
    };
    return RunTests(Built(*prefix_), *prefix_, never, mutant, 7, true, kTimeoutS, Temp());
  }
  static TestReport RunFaulty(int mode, double timeout_s = kTimeoutS,
                              const std::string& mutant = "") {
    Case faulty = *faulty_;
    for (Workload& workload : faulty.check) workload.axes["mode"] = mode;
    auto source = [](int, const std::string& folder) {
      std::vector<float> y = ReadValues<float>(folder + "/in.x"), z = y;
      for (float& value : y) value *= 2;
      for (float& value : z) value *= 3;
      WriteValues(folder + "/out.y", y);
      WriteValues(folder + "/out.z", z);
      return RunReply{};
    };
    return RunTests(Built(faulty), faulty, source, mutant, 7, false, timeout_s, Temp());
  }

  static Scratch* scratch_;
  static Case *prefix_, *faulty_;
};
Scratch* JudgeTest::scratch_ = nullptr;
Case* JudgeTest::prefix_ = nullptr;
Case* JudgeTest::faulty_ = nullptr;

TEST_F(JudgeTest, RightOutputsPass) {
  const TestReport report = RunPrefix([](int, Prefix*) {});
  EXPECT_TRUE(report.verdict.passed()) << report.verdict.message;
  EXPECT_EQ(report.runs, 4);
  ASSERT_EQ(report.tests.size(), 2u);
  EXPECT_EQ(report.tests[0].name, "Prefix.MatchesReference");
  EXPECT_TRUE(report.tests[0].passed);
  ASSERT_EQ(report.comparisons.size(), 6u);
  const Comparison& c = report.comparisons[2];
  EXPECT_EQ(c.workload, prefix_->check[1].label);
  EXPECT_EQ(c.output, "sum");
  EXPECT_EQ(c.matched, 1);
  EXPECT_GT(c.max_abs, 0);
  EXPECT_LT(c.max_abs, 1e-5);
  EXPECT_GT(c.max_ulp, 0);
  EXPECT_GE(c.worst, 0);
}

struct WrongOutput {
  const char* name;
  Spoiler spoil;
  Status status;
  const char* says;
};
const WrongOutput kWrongOutputs[] = {
    {"one element",
     [](int w, Prefix* out) {
       if (w == 1) out->sum[17] += 1e-3f;
     },
     Status::kIncorrectNumerical, "sum[0, 17] is "},
    {"NaN",
     [](int w, Prefix* out) {
       if (w == 1) out->sum[1005] = kNan;
     },
     Status::kIncorrectNonfinite, "sum[1, 5] is nan"},
    {"infinity", [](int, Prefix* out) { out->sum.back() = 1 / 0.0f; }, Status::kIncorrectNonfinite,
     "sum[0, 0] is inf"},
    {"a tail that nobody wrote",
     [](int w, Prefix* out) {
       if (w == 2) std::memset(&out->sum.back(), 0xFF, 4);
     },
     Status::kIncorrectNonfinite, "1 of 3591 elements are off, 1 of them not finite"},
    {"an index",
     [](int w, Prefix* out) {
       if (w == 2) out->top[512] += 1;
     },
     Status::kIncorrectNumerical, "top[512] is "},
    {"too few elements",
     [](int w, Prefix* out) {
       if (w == 1) out->sum.pop_back();
     },
     Status::kIncorrectShape, "out.sum has 11996 bytes, not 12000"},
};

TEST_F(JudgeTest, WrongOutputsFail) {
  for (const WrongOutput& wrong : kWrongOutputs) {
    const TestReport report = RunPrefix(wrong.spoil);
    EXPECT_EQ(StatusName(report.verdict.status), std::string(StatusName(wrong.status)))
        << wrong.name;
    EXPECT_THAT(report.verdict.message, HasSubstr(wrong.says)) << wrong.name;
  }
}

TEST_F(JudgeTest, StopsAtTheFirstFailureIfAsked) {
  const TestReport report = RunPrefix([](int, Prefix* out) { out->sum[0] += 1; }, true);
  EXPECT_EQ(report.verdict.status, Status::kIncorrectNumerical);
  EXPECT_EQ(report.runs, 1);
  EXPECT_EQ(report.tests.size(), 1u);
}

TEST_F(JudgeTest, ASourceThatFailsIsAskedOnce) {
  int asked = 0;
  auto source = [&asked](int, const std::string&) {
    ++asked;
    return RunReply{{Status::kLaunchError, "", "grid x is 0"}};
  };
  const TestReport report =
      RunTests(Built(*prefix_), *prefix_, source, "", 7, false, kTimeoutS, Temp());
  EXPECT_EQ(report.verdict.status, Status::kLaunchError);
  EXPECT_EQ(report.verdict.message, "grid x is 0");
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(report.tests[0].passed);
}

TEST_F(JudgeTest, ASourceThatWritesNothingHasTheWrongShape) {
  auto source = [](int, const std::string&) { return RunReply{}; };
  const TestReport report =
      RunTests(Built(*prefix_), *prefix_, source, "", 7, false, kTimeoutS, Temp());
  EXPECT_EQ(report.verdict.status, Status::kIncorrectShape);
  EXPECT_THAT(report.verdict.message, HasSubstr("no file out.sum"));
}

TEST_F(JudgeTest, ASlowSourceIsATimeoutOfTheRun) {
  auto source = [](int, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return RunReply{};
  };
  const TestReport report = RunTests(Built(*prefix_), *prefix_, source, "", 7, false, 1, Temp());
  EXPECT_EQ(report.verdict.status, Status::kTimeoutRun) << report.verdict.message;
}

TEST_F(JudgeTest, DrawsOtherInputsForAnotherSeedAndTheSameForTheSame) {
  std::vector<float> first[3];
  for (int i = 0; i < 3; ++i) {
    auto source = [&](int workload, const std::string& folder) {
      if (workload == 1 && first[i].empty()) first[i] = ReadValues<float>(folder + "/in.x");
      return RunReply{{Status::kSkipped, "", ""}};
    };
    Case second_only = *prefix_;
    (void)RunTests(
        Built(*prefix_), second_only,
        [&](int workload, const std::string& folder) {
          auto reply = source(workload, folder);
          reply.verdict = {};
          return reply;
        },
        "", i == 0 ? 1 : 2, false, kTimeoutS, Temp());
  }
  ASSERT_EQ(first[1].size(), 3000u);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(first[1], first[2]);
}

TEST_F(JudgeTest, TheReferencesOwnOutputsPass) {
  const TestReport report = Mutate("reference");
  EXPECT_TRUE(report.verdict.passed()) << report.verdict.message;
}

TEST_F(JudgeTest, AGoodTestKillsEachBuiltinMutant) {
  EXPECT_EQ(BuiltinMutants().size(), 11u);
  for (const std::string& mutant : BuiltinMutants()) {
    const TestReport report = Mutate(mutant);
    const bool nonfinite =
        mutant == "no-op" || mutant == "nan" || mutant == "dropped-tail" || mutant == "last-block";
    EXPECT_EQ(VerdictName(report.verdict),
              nonfinite ? "INCORRECT_NONFINITE" : "INCORRECT_NUMERICAL")
        << mutant << ": " << report.verdict.message;
  }
}

TEST_F(JudgeTest, MutantsOfOneOutputSpareTheOthers) {
  const TestReport report = Mutate("zeros:top");
  EXPECT_EQ(report.verdict.status, Status::kIncorrectNumerical);
  EXPECT_THAT(report.verdict.message, HasSubstr("top["));
  EXPECT_THAT(report.verdict.message, ::testing::Not(HasSubstr("sum[")));
}

TEST_F(JudgeTest, AMutantThatChangesNothingIsEquivalent) {
  for (const char* mutant : {"transposed:top", "half-accumulate:top"}) {
    EXPECT_EQ(VerdictName(Mutate(mutant).verdict), "SKIPPED(equivalent)") << mutant;
  }
}

TEST_F(JudgeTest, AnUnknownMutantIsOurFault) {
  EXPECT_EQ(Mutate("gremlin").verdict.status, Status::kInfraError);
}

struct Fault {
  int mode;
  const char* verdict;
  const char* says;
};
constexpr Fault kFaults[] = {
    {0, "PASSED", ""},
    {1, "INVALID_REFERENCE(input-independent)", "output y is the same whatever the inputs"},
    {2, "INVALID_REFERENCE", "it threw: no answer"},
    {3, "INVALID_REFERENCE", "reference.cc: crashed (signal 6)"},
    {4, "INVALID_REFERENCE", "y[0] is nan, which f32 cannot hold"},
    {5, "INVALID_REFERENCE", "which f32 cannot hold"},
    {6, "INVALID_REFERENCE", "changed the size of z"},
    {7, "INVALID_REFERENCE", "no output 'nothing'"},
    {8, "INVALID_REFERENCE", "reference.cc: ended the process (exit code 0)"},
    {9, "INVALID_REFERENCE", "reference.cc did not end within 1 s"},
    {20, "WEAK_TEST", "Faulty.GoesWrong skips"},
    {21, "WEAK_TEST", "test.cc, in Faulty.GoesWrong: crashed (signal 6)"},
    {22, "WEAK_TEST", "test.cc, in Faulty.GoesWrong did not end within 1 s"},
    {23, "WEAK_TEST", "prints too much"},
    {24, "WEAK_TEST", "Faulty.GoesWrong never runs the kernel"},
    {25, "WEAK_TEST", "whose outputs nobody looks at"},
    {26, "PASSED", ""},  // the other test runs the second workload
    {28, "INCORRECT_NUMERICAL", "thrown by a test"},
    {29, "PASSED", ""},  // and all mutants live: see below
    {30, "INCORRECT_NUMERICAL", "Faulty.GoesWrong"},
};

TEST_F(JudgeTest, FaultsOfTheCaseAreToldApart) {
  for (const Fault& fault : kFaults) {
    const bool hangs = fault.mode == 9 || fault.mode == 22;
    const TestReport report = RunFaulty(fault.mode, hangs ? 1 : kTimeoutS);
    EXPECT_EQ(VerdictName(report.verdict), fault.verdict)
        << "mode " << fault.mode << ": " << report.verdict.message;
    EXPECT_THAT(report.verdict.message, HasSubstr(fault.says)) << "mode " << fault.mode;
  }
}

TEST_F(JudgeTest, AnOutputThatNobodyLooksAtMakesTheTestWeak) {
  const TestReport report = RunFaulty(27);
  EXPECT_EQ(report.verdict.status, Status::kWeakTest);
  EXPECT_THAT(report.verdict.message, HasSubstr("never looks at output z"));
}

TEST_F(JudgeTest, ATestThatFailsTheRightAnswerIsNoTest) {
  const TestReport report = RunFaulty(30, kTimeoutS, "reference");
  EXPECT_EQ(report.verdict.status, Status::kInvalidReference);
  EXPECT_THAT(report.verdict.message, HasSubstr("fails on the reference's own outputs"));
}

TEST_F(JudgeTest, ATestThatComparesNothingLetsMutantsLive) {
  EXPECT_TRUE(RunFaulty(29, kTimeoutS, "zeros:z").verdict.passed());
  EXPECT_FALSE(RunFaulty(0, kTimeoutS, "zeros:z").verdict.passed());
}

TEST_F(JudgeTest, AHugeToleranceLetsMutantsLiveButNeverNaN) {
  Case lax = *prefix_;
  for (Tolerance& tolerance : lax.tolerances) tolerance.abs = 1e30;
  auto never = [](int, const std::string&) { return RunReply{}; };
  auto verdict = [&](const char* mutant) {
    return VerdictName(
        RunTests(Built(lax), lax, never, mutant, 7, true, kTimeoutS, Temp()).verdict);
  };
  EXPECT_EQ(verdict("off-by-one:top"), "PASSED");
  EXPECT_EQ(verdict("nan:sum"), "INCORRECT_NONFINITE");
}

}  // namespace
}  // namespace kb
