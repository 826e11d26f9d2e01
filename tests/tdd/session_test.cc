// The whole proof on the CPU emulator: each way to fail gets its own status, at its own stage, and
// the next proof is unharmed.
#include "tdd/session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kb/json.h"
#include "tests/tdd/emulator/emulated_toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr char kGood[] = "if (i < n) y[i] = 2.0f * x[i] + 1.0f;";

void Write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

class ProofSessionTest : public testing::Test {
 protected:
  ProofSessionTest() {
    folder_ = fs::path(testing::TempDir()) / ("session-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(KB_SOURCE_DIR "/tests/data/tdd/cases/scale-f32", folder_ / "scale-f32",
             fs::copy_options::recursive);
  }
  ~ProofSessionTest() override { fs::remove_all(folder_); }

  void SetUp() override {
    const auto toolchain = std::make_shared<EmulatedToolchain>();
    if (!toolchain->available()) GTEST_SKIP() << "no g++ to compile kernels for the emulator with";
    tools_.toolchain = toolchain;
    tools_.compile_here = true;
    tools_.kb = KB_BINARY;
    tools_.driver = KB_FAKE_CUDA;
    tools_.judges_folder = testing::TempDir() + "/kb-session-judges";
    tools_.nnk_folder = (folder_ / "nnk").string();
  }

  std::string CaseFolder() const { return (folder_ / "scale-f32").string(); }

  // A candidate whose kernel has this body after `i` and may use x, y, n.
  std::string Candidate(const std::string& body, std::string launch = "") {
    const fs::path folder = folder_ / "scale-f32/candidates" / ("c" + std::to_string(count_++));
    Write(folder / "kernel.cu",
          "extern \"C\" __global__ void scale(const float* x, float* y, int n) {\n"
          "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
              body + "\n}\n");
    if (launch.empty()) {
      launch =
          "kb: candidate/1\ntitle: a try\nkind: device\nsource: kernel.cu\nlaunches:\n"
          "  - kernel: scale\n    grid: [\"ceil_div(n, 256)\"]\n    block: [256]\n    args: [x, y, "
          "{i32: n}]\n";
    }
    Write(folder / "launch.yaml", launch);
    return folder.string();
  }

  Evaluation Prove(const std::string& candidate, ProofOptions options = {}) {
    ProofSession session(tools_);
    options.sanitize = false;
    options.trials = 1;
    return session.Prove(CaseFolder(), candidate, options);
  }

  ProofTools tools_;
  fs::path folder_;
  int count_ = 0;
};

TEST_F(ProofSessionTest, ARightKernelPassesEveryStage) {
  const Evaluation e = Prove(Candidate(kGood));
  EXPECT_EQ(VerdictName(e.verdict), "PASSED") << e.stage << ": " << e.verdict.message;
  for (const char* name : {"check", "compile", "red", "green", "mutants", "sanitize", "measure",
                           "plausible", "news"}) {
    EXPECT_NE(e.Find(name), nullptr) << name;
  }
  const StageReport* red = e.Find("red");
  ASSERT_NE(red, nullptr);
  EXPECT_GE(red->detail["score"].AsDouble(), 0.9);
  EXPECT_TRUE(e.environment["emulated"].AsBool());
  const StageReport* measure = e.Find("measure");
  ASSERT_NE(measure, nullptr);
  EXPECT_FALSE(measure->detail.AsList().empty());
}

TEST_F(ProofSessionTest, TheBaselineIsMeasuredAgainstItself) {
  const Evaluation e = Prove(CaseFolder() + "/candidates/naive");
  EXPECT_EQ(VerdictName(e.verdict), "PASSED") << e.stage << ": " << e.verdict.message;
}

struct Wrong {
  const char* what;
  const char* body;
  const char* status;
  const char* stage;
};

TEST_F(ProofSessionTest, EachFaultHasItsStatusAndStage) {
  static constexpr Wrong kWrong[] = {
      {"wrong values", "if (i < n) y[i] = 2.0f * x[i];", "INCORRECT_NUMERICAL", "green"},
      {"not finite", "if (i < n) y[i] = 2.0f * x[i] / 0.0f;", "INCORRECT_NONFINITE", "green"},
      {"nothing written", "", "INCORRECT_NONFINITE", "green"},
      {"a write past the end", "y[i] = i < n ? 2.0f * x[i] + 1.0f : 0.0f;", "RUNTIME_ERROR",
       "green"},
      {"a changed input", "if (i < n) { y[i] = 2.0f * x[i] + 1.0f; ((float*)x)[i] = 0; }",
       "REWARD_HACK(inputs-mutated)", "green"},
      {"a trap", "__trap();", "RUNTIME_ERROR", "green"},
      {"no end", "for (volatile int k = 0; k < 1; ) { } if (i < n) y[i] = 1;", "TIMEOUT_RUN",
       "green"},
      {"does not compile", "this is no C++", "COMPILE_ERROR", "compile"},
  };
  for (const Wrong& wrong : kWrong) {
    const Evaluation e = Prove(Candidate(wrong.body));
    EXPECT_TRUE(VerdictName(e.verdict).starts_with(wrong.status))
        << wrong.what << ": " << VerdictName(e.verdict) << " " << e.verdict.message;
    EXPECT_EQ(e.stage, wrong.stage) << wrong.what;
    EXPECT_FALSE(e.verdict.message.empty()) << wrong.what;
    EXPECT_EQ(e.verdict.message.find('\n'), std::string::npos) << wrong.what << ": one line";
  }
}

TEST_F(ProofSessionTest, AFaultLeavesTheNextProofUnharmed) {
  ProofSession session(tools_);
  ProofOptions options;
  options.sanitize = options.measure = false;
  options.red = false;
  options.trials = 1;
  const std::string trap = Candidate("__trap();"), good = Candidate(kGood);
  EXPECT_EQ(session.Prove(CaseFolder(), trap, options).verdict.status, Status::kRuntimeError);
  const Evaluation after = session.Prove(CaseFolder(), good, options);
  EXPECT_TRUE(after.verdict.passed()) << VerdictName(after.verdict) << after.verdict.message;
}

TEST_F(ProofSessionTest, BadLaunchesAreNamed) {
  const std::string head =
      "kb: candidate/1\ntitle: t\nkind: device\nsource: kernel.cu\nlaunches:\n  - kernel: ";
  const std::pair<std::string, const char*> kLaunches[] = {
      {head + "missing\n    grid: [1]\n    block: [256]\n    args: [x, y, {i32: n}]\n",
       "INVALID_CASE"},
      {head + "scale\n    grid: [1]\n    block: [2048]\n    args: [x, y, {i32: n}]\n",
       "INVALID_CASE"},
      {head + "scale\n    grid: [1]\n    block: [256]\n    args: [x, z, {i32: n}]\n",
       "INVALID_CASE"},
      {head + "scale\n    grid: [m]\n    block: [256]\n    args: [x, y, {i32: n}]\n",
       "INVALID_CASE"},
      {"kb: candidate/1\ntitle: t\nkind: device\nsource: ../naive/kernel.cu\nlaunches: []\n",
       "INVALID_CASE"},
  };
  for (const auto& [launch, status] : kLaunches) {
    const Evaluation e = Prove(Candidate(kGood, launch));
    EXPECT_EQ(VerdictName(e.verdict), status) << launch << e.stage << ": " << e.verdict.message;
  }
}

TEST_F(ProofSessionTest, ASymlinkOutIsRefused) {
  const std::string folder = Candidate(kGood);
  fs::remove(folder + "/kernel.cu");
  fs::create_symlink("/etc/passwd", folder + "/kernel.cu");
  const Evaluation e = Prove(folder);
  EXPECT_EQ(e.stage, "check");
  EXPECT_FALSE(e.verdict.passed());
}

TEST_F(ProofSessionTest, AWeakTestProvesNothing) {
  Write(folder_ / "scale-f32/test.cc",
        "#include \"kb/case_test.h\"\nTEST(Scale, HasRightFirstElement) {\n"
        "  for (const auto& w : kb::test::Workloads()) {\n    const kb::test::Run run(w);\n"
        "    EXPECT_NEAR(run[\"y\"][0], run.want(\"y\")[0], 1e-3);\n  }\n}\n");
  const Evaluation e = Prove(Candidate(kGood));
  EXPECT_EQ(VerdictName(e.verdict), "WEAK_TEST") << e.stage << ": " << e.verdict.message;
  EXPECT_EQ(e.stage, "red");
}

TEST_F(ProofSessionTest, WithoutADeviceNothingPasses) {
  tools_.driver = "/nowhere/libcuda.so.1";
  const Evaluation e = Prove(Candidate(kGood));
  EXPECT_EQ(VerdictName(e.verdict), "SKIPPED(no device)");
  EXPECT_EQ(e.stage, "green");
  ASSERT_NE(e.Find("red"), nullptr);
  EXPECT_TRUE(e.Find("red")->verdict.passed()) << e.Find("red")->verdict.message;
}

TEST_F(ProofSessionTest, WithoutAToolchainItSaysWhatToInstall) {
  tools_.toolchain = nullptr;
  tools_.no_toolchain = "no NVRTC: install a CUDA toolkit";
  const Evaluation e = Prove(Candidate(kGood));
  EXPECT_EQ(VerdictName(e.verdict), "SKIPPED(no toolchain)");
  EXPECT_EQ(e.verdict.message, tools_.no_toolchain);
}

}  // namespace
}  // namespace kb
