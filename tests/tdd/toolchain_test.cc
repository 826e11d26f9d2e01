#include "tdd/toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace kb {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kAxpy[] =
    "__global__ void Axpy(int n, float a, const float* x, float* y) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] += a * x[i];\n"
    "}\n";

// Skips where there is no NVRTC; with KB_REQUIRE_CUDA=1 that is a failure.
class Nvrtc : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    nvrtc_ = OpenNvrtc(&why);
    if (nvrtc_ != nullptr) return;
    const char* require = std::getenv("KB_REQUIRE_CUDA");
    ASSERT_FALSE(require != nullptr && std::string(require) == "1") << why;
    GTEST_SKIP() << why;
  }

  CompileResult Compile(std::string source, std::string arch = "sm_80",
                        std::vector<std::string> options = {}) const {
    return nvrtc_->Compile({std::move(source), "test.cu", std::move(arch), std::move(options)});
  }

  std::unique_ptr<Toolchain> nvrtc_;
};

class NvrtcArch : public Nvrtc, public ::testing::WithParamInterface<const char*> {};

TEST_P(NvrtcArch, AGoodKernelBecomesAnElfCubin) {
  CompileResult result = Compile(kAxpy, GetParam());
  EXPECT_TRUE(result.ok) << result.log;
  EXPECT_THAT(result.cubin, StartsWith("\x7f"
                                       "ELF"));
  EXPECT_THAT(result.cubin, HasSubstr("Axpy"));
}

INSTANTIATE_TEST_SUITE_P(Arch, NvrtcArch, ::testing::Values("sm_80", "sm_90a", "sm_100a"),
                         [](const auto& test) { return std::string(test.param); });

class NvrtcInclude : public Nvrtc, public ::testing::WithParamInterface<const char*> {};

TEST_P(NvrtcInclude, CompilesWithoutFurtherOptions) {
  CompileResult result = Compile(std::string("#include <") + GetParam() + ">\n" + kAxpy);
  EXPECT_TRUE(result.ok) << result.log;
}

INSTANTIATE_TEST_SUITE_P(Header, NvrtcInclude,
                         ::testing::Values("cuda_fp16.h", "cuda_bf16.h", "mma.h",
                                           "cooperative_groups.h", "cuda/barrier", "cuda/std/array",
                                           "cub/block/block_reduce.cuh"));

TEST_F(Nvrtc, HeadersOfTheRequestAreIncludedByName) {
  CompileRequest request = {
      std::string("#include \"part/one.h\"\n") + kAxpy, "test.cu", "sm_80", {}};
  EXPECT_FALSE(nvrtc_->Compile(request).ok);
  request.headers = {{"two.h", "#error not asked for\n"}, {"part/one.h", "#define ONE 1\n"}};
  request.source += "static_assert(ONE == 1);\n";
  const CompileResult result = nvrtc_->Compile(request);
  EXPECT_TRUE(result.ok) << result.log;
}

TEST_F(Nvrtc, SaysItsVersion) {
  EXPECT_THAT(nvrtc_->version(), ::testing::MatchesRegex("NVRTC [0-9]+\\.[0-9]+"));
}

TEST_F(Nvrtc, AnErrorIsAResultWithItsLine) {
  CompileResult result = Compile("__global__ void F() {\n  undeclared = 1;\n}\n");
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.cubin, IsEmpty());
  EXPECT_THAT(result.log, HasSubstr("test.cu(2): error"));
}

TEST_F(Nvrtc, RefusalsAreResultsThatSayWhy) {
  EXPECT_THAT(Compile(kAxpy, "sm_1").log, HasSubstr("gpu-architecture"));
  EXPECT_THAT(Compile(kAxpy, "").log, HasSubstr("gpu-architecture"));
  EXPECT_THAT(Compile(kAxpy, "sm_80", {"--no-such-option"}).log, HasSubstr("no-such-option"));
  EXPECT_THAT(Compile(std::string("a\0b", 3)).log, HasSubstr("NUL"));
  CompileResult no_machine_code = Compile(kAxpy, "compute_80");
  EXPECT_FALSE(no_machine_code.ok);
  EXPECT_THAT(no_machine_code.log, HasSubstr("compute_80"));
}

TEST_F(Nvrtc, TheLogIsBounded) {
  std::string source;
  for (int i = 0; i < 3000; ++i) source += "#warning " + std::string(100, 'w') + "\n";
  CompileResult result = Compile(source + kAxpy);
  EXPECT_TRUE(result.ok);
  EXPECT_GT(result.log.size(), 60u << 10);
  EXPECT_LE(result.log.size(), 64u << 10);
  EXPECT_THAT(result.log, HasSubstr("cut"));
}

TEST_F(Nvrtc, TheStandardIsCpp17UnlessAsked) {
  std::string source = "static_assert(__cplusplus == EXPECTED);\n";
  EXPECT_TRUE(Compile(source, "sm_80", {"-DEXPECTED=201703L"}).ok);
  for (const char* option : {"--std=c++20", "-std=c++20"}) {
    CompileResult result = Compile(source, "sm_80", {option, "-DEXPECTED=202002L"});
    EXPECT_TRUE(result.ok) << result.log;
  }
}

TEST_F(Nvrtc, CompilesInSeveralThreadsAtOnce) {
  std::vector<CompileResult> results(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      results[i] = Compile("__global__ void K" + std::to_string(i) + "() {" +
                           (i % 2 == 0 ? "}" : "oops}") + "\n");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i].ok, i % 2 == 0) << i;
}

TEST(OpenNvrtc, SaysWhatIsMissingAndHowToGetIt) {
  std::string why;
  EXPECT_EQ(OpenNvrtc(&why, {"/no/such/folder"}), nullptr);
  EXPECT_THAT(why, HasSubstr("/no/such/folder"));
  EXPECT_THAT(why, HasSubstr("CUDA_HOME"));
  EXPECT_EQ(why.find('\n'), std::string::npos);
  EXPECT_EQ(OpenNvrtc(nullptr, {}), nullptr);
}

TEST(OpenNvrtc, ALibraryThatIsNoneIsPassedOver) {
  std::string pattern = ::testing::TempDir() + "nvrtc-XXXXXX";
  std::string folder = mkdtemp(pattern.data());
  std::ofstream(folder + "/libnvrtc.so") << "not a library";
  std::string why;
  EXPECT_EQ(OpenNvrtc(&why, {folder}), nullptr);
  EXPECT_THAT(why, HasSubstr(folder));
  fs::remove_all(folder);
}

TEST(NvrtcFolders, AskTheEnvironmentFirstAndTheLoaderLast) {
  const char* before = std::getenv("CUDA_HOME");
  std::string kept = before == nullptr ? "" : before;
  setenv("CUDA_HOME", "/opt/some/cuda", 1);
  std::vector<std::string> folders = NvrtcFolders();
  EXPECT_EQ(folders.front(), "/opt/some/cuda/lib64");
  EXPECT_EQ(folders.back(), "");
  setenv("CUDA_HOME", "", 1);
  EXPECT_NE(NvrtcFolders().front(), "/lib64");
  before == nullptr ? unsetenv("CUDA_HOME") : setenv("CUDA_HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace kb
