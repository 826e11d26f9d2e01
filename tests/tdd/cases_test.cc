// The cases that ship, with all their candidates. What needs a compiler is skipped, and said, where
// there is none. KB_SLOW_TESTS=1 runs every candidate on the emulator, not one a case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kb/document.h"
#include "kb/file.h"
#include "tdd/candidate.h"
#include "tdd/case.h"
#include "tdd/compile.h"
#include "tdd/judge.h"
#include "tdd/red.h"
#include "tdd/toolchain.h"
#include "tests/tdd/emulator/emulated_run.h"
#include "tests/tdd/emulator/emulated_toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCases[] = {"axpy-f32",      "dequant-int4-bf16", "gemm-bf16",
                                  "histogram-256", "layernorm-f32",     "rmsnorm-bf16",
                                  "scan-f32",      "softmax-bf16",      "sum-f32",
                                  "swiglu-bf16",   "topk-f32",          "transpose-f32"};
// The candidate of each case that the emulator always runs; what has inline PTX it cannot run.
const std::map<std::string, std::string> kTried = {
    {"axpy-f32", "float4"},           {"dequant-int4-bf16", "word-x4"},
    {"gemm-bf16", "naive"},           {"histogram-256", "lane-private"},
    {"layernorm-f32", "one-barrier"}, {"rmsnorm-bf16", "row-in-registers"},
    {"scan-f32", "look-back"},        {"softmax-bf16", "row-in-registers"},
    {"sum-f32", "last-block"},        {"swiglu-bf16", "vector-8"},
    {"topk-f32", "block-a-row"},      {"transpose-f32", "tile-64-float4"}};

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string(value) == "1";
}

std::string CaseFolder(const std::string& name) {
  return std::string(KB_SOURCE_DIR) + "/tdd/cases/" + name;
}

std::vector<std::string> CandidatesOf(const std::string& name) {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(CaseFolder(name) + "/candidates")) {
    ids.push_back(entry.path().filename().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string Text(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) {
    text += d.path + ":" + std::to_string(d.line) + ": " + d.message + "\n";
  }
  return text;
}

// The judges of this run's cases, built once into a folder that goes at the end.
class Judges : public ::testing::Environment {
 public:
  static const std::string& Folder() {
    static const std::string folder = testing::TempDir() + "kb-cases-" + std::to_string(getpid());
    return folder;
  }
  void SetUp() override { fs::create_directories(Folder()); }
  void TearDown() override { fs::remove_all(Folder()); }
};
const auto* const kJudges = ::testing::AddGlobalTestEnvironment(new Judges);

class ShippedCase : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    LoadedCase loaded = LoadCase(CaseFolder(GetParam()));
    ASSERT_TRUE(loaded.ok()) << Text(loaded.diagnostics);
    EXPECT_EQ(Text(loaded.diagnostics), "");
    case_ = std::move(loaded.value);
  }

  Candidate Load(const std::string& id) const {
    LoadedCandidate loaded = LoadCandidate(case_.folder + "/candidates/" + id, case_);
    EXPECT_TRUE(loaded.ok()) << id;
    EXPECT_EQ(Text(loaded.diagnostics), "") << id;
    return std::move(loaded.value);
  }

  // Skips where there is no C++ compiler.
  void NeedJudge() {
    const BuiltJudge judge = BuildJudge(case_, Judges::Folder());
    if (judge.verdict.status == Status::kSkipped) GTEST_SKIP() << judge.verdict.message;
    ASSERT_TRUE(judge.verdict.passed()) << judge.verdict.message;
    judge_ = judge.path;
  }

  Case case_;
  std::string judge_;
};

TEST(ShippedCases, AreAllOfTheFolder) {
  std::set<std::string> folders;
  for (const auto& entry : fs::directory_iterator(CaseFolder(""))) {
    if (entry.is_directory()) folders.insert(entry.path().filename().string());
  }
  EXPECT_EQ(folders, std::set<std::string>(std::begin(kCases), std::end(kCases)));
}

TEST_P(ShippedCase, HasABaselineAndABetterCandidateThatTheLintLikes) {
  const std::vector<std::string> ids = CandidatesOf(GetParam());
  EXPECT_GE(ids.size(), 2U);
  EXPECT_THAT(ids, ::testing::Contains(case_.baseline));
  for (const std::string& id : ids) EXPECT_EQ(Text(CheatLint(case_, Load(id))), "") << id;
}

TEST_P(ShippedCase, PlansEveryWorkloadForEveryCandidate) {
  std::vector<Workload> workloads = case_.check;
  workloads.insert(workloads.end(), case_.time.begin(), case_.time.end());
  for (const std::string& id : CandidatesOf(GetParam())) {
    const Candidate candidate = Load(id);
    for (const Workload& workload : workloads) {
      const Planned planned = PlanRun(case_, candidate, workload.axes);
      EXPECT_TRUE(planned.plan.has_value()) << id << ", " << workload.label << ": " << planned.why;
    }
  }
}

// Every launch is reached by some check workload, else nothing would ever test it.
TEST_P(ShippedCase, ChecksEveryKernelOfEveryCandidate) {
  for (const std::string& id : CandidatesOf(GetParam())) {
    const Candidate candidate = Load(id);
    std::set<std::string> kernels, launched;
    for (const LaunchSpec& launch : candidate.launches) kernels.insert(launch.kernel);
    for (const Workload& workload : case_.check) {
      const Planned planned = PlanRun(case_, candidate, workload.axes);
      if (!planned.plan) continue;
      for (const LaunchPlan& launch : planned.plan->launches) launched.insert(launch.kernel);
    }
    EXPECT_EQ(launched, kernels) << id;
  }
}

TEST_P(ShippedCase, HasInputsOfAtMostHalfAGibibyte) {
  for (const Workload& workload : case_.time) {
    int64_t bytes = 0;
    for (const TensorSpec& input : case_.inputs) {
      if (!input.scalar) bytes += BytesOf(input, workload.axes).value_or(INT64_MAX / 64);
    }
    EXPECT_LE(bytes, int64_t{512} << 20) << workload.label;
  }
}

TEST_P(ShippedCase, CompilesForEachArchitectureOfItsScope) {
  std::string why;
  const auto nvrtc = OpenNvrtc(&why);
  if (nvrtc == nullptr) {
    ASSERT_FALSE(IsSet("KB_REQUIRE_CUDA")) << why;
    GTEST_SKIP() << why;
  }
  for (const std::string& id : CandidatesOf(GetParam())) {
    const Candidate candidate = Load(id);
    const std::string scope = candidate.arch.empty() ? case_.arch : candidate.arch;
    int compiled = 0;
    for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
      if (!MatchesArch(scope, arch)) continue;
      const Compiled result = CompileCandidate(case_, candidate, {arch, nvrtc.get(), "", ""});
      EXPECT_TRUE(result.verdict.passed()) << id << ", " << arch << ": " << result.verdict.message;
      EXPECT_THAT(result.log, ::testing::Not(::testing::HasSubstr("Potential Performance Loss")));
      for (const KernelResources& kernel : result.kernels) {
        EXPECT_EQ(kernel.spill_store_bytes + kernel.spill_load_bytes, 0)
            << id << ", " << arch << ": " << kernel.kernel;
      }
      ++compiled;
    }
    EXPECT_GT(compiled, 0) << id << " is for none of them: " << scope;
  }
}

TEST_P(ShippedCase, RejectsNineOfTenBuiltInMutants) {
  NeedJudge();
  if (judge_.empty()) return;
  const RedReport red = ProveRed(case_, JudgedTests(judge_, case_, Judges::Folder()), 7);
  EXPECT_TRUE(red.verdict.passed()) << red.verdict.message;
  EXPECT_GE(red.Score().value_or(0), 0.9);
  EXPECT_GE(red.Count(MutantFate::kKilled), 6);
  for (const MutantResult& mutant : red.mutants) {
    EXPECT_NE(mutant.fate, MutantFate::kSurvived) << mutant.name;
  }
  EXPECT_THAT(red.UselessTests(), ::testing::IsEmpty());
}

RunReply Emulate(const Case& of_case, const Candidate& candidate, const std::string& cubin,
                 int workload, const std::string& folder) {
  const Planned planned =
      PlanRun(of_case, candidate, of_case.check.at(static_cast<size_t>(workload)).axes);
  if (!planned.plan) return {{Status::kLaunchError, "", planned.why}};
  BufferBytes inputs;
  for (const TensorSpec& input : of_case.inputs) {
    if (!input.scalar) inputs[input.name] = ReadFile(folder + "/in." + input.name).value_or("");
  }
  const EmulatedRun run = RunOnEmulator(KB_FAKE_CUDA, cubin, *planned.plan, inputs);
  if (run.result != 0) return {{Status::kRuntimeError, "", run.error}};
  for (const TensorSpec& output : of_case.outputs) {
    std::ofstream(folder + "/out." + output.name, std::ios::binary) << run.outputs.at(output.name);
  }
  return {};
}

TEST_P(ShippedCase, AcceptsItsCandidatesOnTheEmulator) {
  const EmulatedToolchain toolchain;
  if (!toolchain.available()) GTEST_SKIP() << "no compiler for the emulator";
  NeedJudge();
  if (judge_.empty()) return;
  int tried = 0;
  for (const std::string& id : CandidatesOf(GetParam())) {
    if (!IsSet("KB_SLOW_TESTS") && id != kTried.at(GetParam())) continue;
    const Candidate candidate = Load(id);
    if (candidate.source_text.find("asm volatile") != std::string::npos) continue;
    const CompileResult compiled =
        toolchain.Compile({candidate.source_text, candidate.source, "sm_90a", candidate.flags});
    ASSERT_TRUE(compiled.ok) << id << ": " << compiled.log;
    const TestReport report = RunTests(
        judge_, case_,
        [&](int workload, const std::string& folder) {
          return Emulate(case_, candidate, compiled.cubin, workload, folder);
        },
        "", 11, false, 300, Judges::Folder());
    EXPECT_TRUE(report.verdict.passed()) << id << ": " << report.verdict.message;
    for (const TestOutcome& test : report.tests) {
      EXPECT_TRUE(test.passed) << id << ": " << test.name << ": " << test.message;
    }
    ++tried;
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(Cases, ShippedCase, ::testing::ValuesIn(kCases), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace kb
