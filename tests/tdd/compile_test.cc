#include "tdd/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tdd/cubin.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- ptxas ----

TEST(ReadPtxasLog, ReadsWhatEachToolkitWrites) {
  const std::vector<KernelResources> kernels = ReadPtxasLog(
      "ptxas info    : 4 bytes gmem\n"
      "ptxas info    : Compiling entry function 'softmax' for 'sm_90a'\n"
      "ptxas info    : Function properties for softmax\n"
      "ptxas         .     16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 27 registers, used 1 barriers, 36 bytes smem\n"
      "ptxas info    : Compile time = 26.070 ms\n"
      "ptxas info    : Function properties for helper\n"
      "    99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n"
      "ptxas info    : Compiling entry function '_Z1fv' for 'sm_80'\n"
      "ptxas info    : Function properties for _Z1fv\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 255 registers, 2048 bytes smem, 380 bytes cmem[0], 8 bytes cmem[2]\n");
  ASSERT_EQ(kernels.size(), 2u);
  const KernelResources& softmax = kernels[0];
  EXPECT_EQ(softmax.kernel, "softmax");
  EXPECT_EQ(softmax.registers, 27);
  EXPECT_EQ(softmax.barriers, 1);
  EXPECT_EQ(softmax.stack_bytes, 16);
  EXPECT_EQ(softmax.spill_store_bytes, 4);
  EXPECT_EQ(softmax.spill_load_bytes, 8);
  EXPECT_EQ(softmax.shared_bytes, 36);
  EXPECT_EQ(kernels[1].registers, 255);
  EXPECT_EQ(kernels[1].barriers, 0);
  EXPECT_EQ(kernels[1].shared_bytes, 2048);
  EXPECT_EQ(ToValue(softmax)["registers"].AsInt(), 27);
}

TEST(ReadPtxasLog, OtherTextIsNoKernel) {
  for (const char* log : {"", "\n\n", "ptxas info : Used 3 registers", "Compiling entry function '",
                          "k.cu(3): warning: x", "Compiling entry function 'f"}) {
    for (const KernelResources& kernel : ReadPtxasLog(log)) EXPECT_EQ(kernel.kernel, "");
  }
}

// ---- in this process, by a fake ----

class FakeToolchain : public Toolchain {
 public:
  [[nodiscard]] std::string version() const override { return "fake 1"; }
  [[nodiscard]] CompileResult Compile(const CompileRequest& request) const override {
    last = request;
    return answer;
  }
  mutable CompileRequest last;
  CompileResult answer;
};

Candidate MakeCandidate(const std::string& source) {
  Candidate candidate;
  candidate.folder = "cand";
  candidate.source = "kernel.cu";
  candidate.source_text = source;
  candidate.launches.resize(1);
  candidate.launches[0].kernel = "F";
  candidate.launches[0].line = 7;
  return candidate;
}

constexpr char kGood[] =
    "extern \"C\" __global__ void F(float* y) { y[threadIdx.x] = N * threadIdx.x; }\n";

TEST(CompileCandidate, AsksForFlagsParamsAndFiles) {
  FakeToolchain fake;
  fake.answer = {true, "binary",
                 "ptxas info : Compiling entry function 'F' for 'sm_90a'\n"
                 "ptxas info : Used 9 registers\n"};
  Candidate candidate = MakeCandidate("source");
  candidate.flags = {"--use_fast_math", "-O3"};
  candidate.params = {{"TILE", {64, 128}}};
  candidate.files = {{"tile.cuh", "text"}};
  const Compiled compiled = CompileCandidate({}, candidate, {"sm_90a", &fake, "", ""});
  EXPECT_TRUE(compiled.verdict.passed());
  EXPECT_EQ(compiled.binary, "binary");
  EXPECT_EQ(compiled.compiler, "fake 1");
  EXPECT_THAT(fake.last.options, ::testing::ElementsAre("--use_fast_math", "--ptxas-options=-O3",
                                                        "-DTILE=64", "--ptxas-options=-v"));
  ASSERT_EQ(fake.last.headers.size(), 1u);
  EXPECT_EQ(fake.last.headers[0].name, "tile.cuh");
  ASSERT_EQ(compiled.kernels.size(), 1u);
  EXPECT_EQ(compiled.kernels[0].registers, 9);
  const Value value = ToValue(compiled);
  EXPECT_EQ(value["kernels"].AsList()[0]["name"].AsString(), "F");
  EXPECT_TRUE(value["log"].IsNull());
}

TEST(CompileCandidate, AnErrorIsTheCompilersFirst) {
  FakeToolchain fake;
  fake.answer = {false, "", "k.cu(1): warning: w\nk.cu(2): error: no such thing\nk.cu(3): error\n"};
  const Compiled compiled = CompileCandidate({}, MakeCandidate(""), {"sm_90a", &fake, "", ""});
  EXPECT_EQ(compiled.verdict.status, Status::kCompileError);
  EXPECT_EQ(compiled.verdict.message, "k.cu(2): error: no such thing");
  EXPECT_THAT(ToValue(compiled)["log"].AsString(), HasSubstr("warning"));
  fake.answer.log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
  EXPECT_EQ(CompileCandidate({}, MakeCandidate(""), {"sm_999", &fake, "", ""}).verdict.status,
            Status::kInfraError);
  EXPECT_EQ(CompileCandidate({}, MakeCandidate(""), {"sm_90a", nullptr, "", ""}).verdict.status,
            Status::kSkipped);
}

// ---- in a child, by NVRTC ----

class CompileChild : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    toolchain_ = OpenNvrtc(&why);
    const char* require = std::getenv("KB_REQUIRE_CUDA");
    ASSERT_FALSE(toolchain_ == nullptr && require != nullptr && std::string(require) == "1") << why;
    if (toolchain_ == nullptr) GTEST_SKIP() << why;
    std::string pattern = ::testing::TempDir() + "compile-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    if (folder_.empty()) return;
    EXPECT_TRUE(fs::is_empty(folder_)) << "something was left in " << folder_;
    fs::remove_all(folder_);
  }
  Compiled Compile(const Candidate& candidate, double timeout_s = 60) const {
    return CompileCandidate({}, candidate,
                            {"sm_90a", toolchain_.get(), KB_BINARY, folder_, timeout_s});
  }
  std::unique_ptr<Toolchain> toolchain_;
  std::string folder_;
};

TEST_F(CompileChild, GivesTheSameCodeAsInThisProcess) {
  Candidate candidate = MakeCandidate("#include \"n.cuh\"\n" + std::string(kGood));
  candidate.files = {{"n.cuh", "#define N 3\n"}};
  const Compiled compiled = Compile(candidate);
  ASSERT_TRUE(compiled.verdict.passed()) << compiled.verdict.message << compiled.log;
  EXPECT_EQ(compiled.compiler, toolchain_->version());
  ASSERT_EQ(compiled.kernels.size(), 1u);
  EXPECT_EQ(compiled.kernels[0].kernel, "F");
  EXPECT_GT(compiled.kernels[0].registers, 0);
  EXPECT_GT(compiled.cpu_s, 0);
  const CompileResult here = toolchain_->Compile(RequestFor(candidate, "sm_90a"));
  EXPECT_EQ(CodeDigest(compiled.binary), CodeDigest(here.cubin));
}

TEST_F(CompileChild, ASourceThatDoesNotCompileIsToldByItsLine) {
  const Compiled compiled = Compile(MakeCandidate("\n" + std::string(kGood)));
  EXPECT_EQ(compiled.verdict.status, Status::kCompileError);
  EXPECT_THAT(compiled.verdict.message, HasSubstr("kernel.cu(2): error"));
  EXPECT_THAT(compiled.binary, IsEmpty());
}

TEST_F(CompileChild, AKernelThatTheSourceLacksIsALinkError) {
  Candidate candidate = MakeCandidate(kGood);
  candidate.params = {{"N", {1}}};
  candidate.launches[0].kernel = "G";
  const Compiled compiled = Compile(candidate);
  EXPECT_EQ(compiled.verdict.status, Status::kLinkError);
  EXPECT_THAT(compiled.verdict.message, HasSubstr("cand/launch.yaml:7: no kernel G"));
  EXPECT_THAT(compiled.verdict.message, HasSubstr("it has: F"));
}

struct Bomb {
  const char* name;
  const char* source;
};
class CompileBomb : public CompileChild, public ::testing::WithParamInterface<Bomb> {};

TEST_P(CompileBomb, IsAVerdictWithinItsDeadline) {
  const Compiled compiled = Compile(MakeCandidate(GetParam().source), 3);
  EXPECT_TRUE(compiled.verdict.status == Status::kTimeoutBuild ||
              compiled.verdict.status == Status::kCompileError)
      << VerdictName(compiled.verdict);
  EXPECT_THAT(compiled.verdict.message, Not(IsEmpty()));
  EXPECT_EQ(compiled.verdict.message.find('\n'), std::string::npos);
  EXPECT_LT(compiled.wall_s, 10);
}

const Bomb kBombs[] = {
    {"Templates",
     "template <int N> struct A { A<N - 1> x; A<N + 1> y; };\n"
     "extern \"C\" __global__ void F() { A<400> a; (void)a; }\n"},
    {"Doubling",
     "template <int N, int M> struct A { static constexpr int v = A<N - 1, 2 * M>::v + "
     "A<N - 1, 2 * M + 1>::v; };\n"
     "template <int M> struct A<0, M> { static constexpr int v = 1; };\n"
     "extern \"C\" __global__ void F(int* y) { *y = A<26, 0>::v; }\n"},
    {"IncludesItself", "#include __FILE__\n"},
    {"Macros",
     "#define A x x x x x x x x x x\n#define B A A A A A A A A A A\n"
     "#define C B B B B B B B B B B\n#define D C C C C C C C C C C\n"
     "#define E D D D D D D D D D D\n#define G E E E E E E E E E E\n"
     "#define H G G G G G G G G G G\n#define I H H H H H H H H H H\nI I I I\n"},
};
INSTANTIATE_TEST_SUITE_P(Bombs, CompileBomb, ::testing::ValuesIn(kBombs),
                         [](const auto& bomb) { return std::string(bomb.param.name); });

TEST_F(CompileChild, ADeadlineIsTimeoutBuild) {
  const Compiled compiled = Compile(MakeCandidate(kBombs[1].source), 0.5);
  EXPECT_EQ(compiled.verdict.status, Status::kTimeoutBuild);
}

TEST_F(CompileChild, WithoutTheBinaryItIsOursToMend) {
  const Compiled compiled =
      CompileCandidate({}, MakeCandidate(kGood), {"sm_90a", nullptr, "/no/such/kb", folder_, 10});
  EXPECT_EQ(compiled.verdict.status, Status::kInfraError);
}

TEST_F(CompileChild, AHostCandidateBecomesASharedObject) {
  Candidate candidate = MakeCandidate(
      "extern \"C\" int kb_run(const void*, void*) { return N; }\n"
      "__global__ void K(int* y) { *y = 1; }\n");
  candidate.kind = CandidateKind::kHost;
  candidate.params = {{"N", {0}}};
  const Compiled compiled = Compile(candidate);
  if (compiled.verdict.status == Status::kSkipped) GTEST_SKIP() << compiled.verdict.message;
  ASSERT_TRUE(compiled.verdict.passed()) << compiled.verdict.message << compiled.log;
  EXPECT_THAT(compiled.binary, ::testing::StartsWith("\x7f"
                                                     "ELF"));
  EXPECT_THAT(compiled.binary, HasSubstr("kb_run"));
  EXPECT_EQ(compiled.kernels.size(), 1u);
  candidate.source_text = "int x = ;\n";
  EXPECT_EQ(Compile(candidate).verdict.status, Status::kCompileError);
}

TEST_F(CompileChild, AHostCandidateFindsTheHeaderOfTheInterface) {
  for (const char* name : {"kb_candidate.h", "kb/candidate.h"}) {
    Candidate candidate = MakeCandidate(
        "#include \"" + std::string(name) +
        "\"\nextern \"C\" int kb_run(const kb_args* a, CUstream_st*) { return a->version; }\n");
    candidate.kind = CandidateKind::kHost;
    const Compiled compiled = Compile(candidate);
    if (compiled.verdict.status == Status::kSkipped) GTEST_SKIP() << compiled.verdict.message;
    EXPECT_TRUE(compiled.verdict.passed()) << name << compiled.verdict.message << compiled.log;
  }
}

}  // namespace
}  // namespace kb
