// The emulator itself: kernels get the answers that a GPU gives, and their faults are seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>

#include "tdd/driver.h"
#include "tests/tdd/emulator/emulated_run.h"
#include "tests/tdd/emulator/emulated_toolchain.h"
#include "tests/tdd/emulator/kernel_text.h"

namespace kb {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> Elements(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// `f<<<grid, block, shared_bytes>>>(in, out)`: floats in, `out_bytes` of 0xFF bytes out.
struct Launch {
  unsigned grid = 1, block = 1, shared_bytes = 0;
  std::vector<float> in = {0};
  size_t out_bytes = 4;
  std::string kernel = "f";
};

RunPlan PlanOf(const Launch& launch) {
  RunPlan plan;
  plan.buffers.resize(2);
  plan.buffers[0].name = "in";
  plan.buffers[0].bytes = static_cast<int64_t>(launch.in.size() * sizeof(float));
  plan.buffers[1].name = "out";
  plan.buffers[1].role = BufferPlan::Role::kOutput;
  plan.buffers[1].bytes = static_cast<int64_t>(launch.out_bytes);
  plan.launches.resize(1);
  plan.launches[0].kernel = launch.kernel;
  plan.launches[0].grid[0] = launch.grid;
  plan.launches[0].block[0] = launch.block;
  plan.launches[0].shared_bytes = launch.shared_bytes;
  plan.launches[0].args = {{"in", "", ""}, {"out", "", ""}};
  return plan;
}

// The kernel f of this body.
std::string Kernel(const std::string& body) {
  return "extern \"C\" __global__ void f(const float* in, int* out) {\n  int t = threadIdx.x;\n" +
         body + "\n}\n";
}

// Skips where there is no g++; with KB_REQUIRE_COMPILER=1 that is a failure.
class Emulator : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool available = EmulatedToolchain().available();
    if (available) return;
    const char* require = std::getenv("KB_REQUIRE_COMPILER");
    ASSERT_FALSE(require != nullptr && std::string(require) == "1") << "no g++";
    GTEST_SKIP() << "no g++ here: install it to run kernels on the CPU";
  }

  static const std::string& Compiled(const std::string& source) {
    static std::map<std::string, std::string> known;
    const auto [at, fresh] = known.try_emplace(source);
    if (!fresh) return at->second;
    CompileResult result = EmulatedToolchain().Compile({source, "test.cu", "sm_90a", {}});
    EXPECT_TRUE(result.ok) << result.log;
    return at->second = result.cubin;
  }

  static EmulatedRun Run(const std::string& source, const Launch& launch,
                         const std::vector<std::string>& environment = {}) {
    const std::string& cubin = Compiled(source);
    if (cubin.empty()) return {};
    return RunOnEmulator(KB_FAKE_CUDA, cubin, PlanOf(launch), {{"in", Bytes(launch.in)}},
                         environment);
  }

  // One block of `threads` that fills `count` ints, which start as -1.
  static std::vector<int> Ints(const std::string& body, unsigned threads, size_t count = 0,
                               unsigned shared_bytes = 0) {
    Launch launch;
    launch.block = threads;
    launch.shared_bytes = shared_bytes;
    launch.out_bytes = (count == 0 ? threads : count) * sizeof(int);
    EmulatedRun done = Run(Kernel(body), launch);
    EXPECT_EQ(done.result, 0) << done.error;
    return Elements<int>(done.outputs["out"]);
  }
};

std::vector<int> Iota(int count) {
  std::vector<int> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST_F(Emulator, RunsEachThreadOfEachBlockOnce) {
  Launch launch;
  launch.grid = 7;
  launch.block = 33;
  launch.out_bytes = 7 * 33 * sizeof(int);
  EmulatedRun done = Run(Kernel("atomicAdd(&out[blockIdx.x * blockDim.x + t], 5);"), launch);
  ASSERT_EQ(done.result, 0) << done.error;
  EXPECT_THAT(Elements<int>(done.outputs["out"]), Each(4));
}

TEST_F(Emulator, BarriersKeepTheBlockTogether) {
  const std::string with =
      "__shared__ int s[256];\n s[t] = t;\n __syncthreads();\n out[t] = s[255 - t];";
  std::vector<int> reversed = Iota(256);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(Ints(with, 256), reversed);
}

TEST_F(Emulator, AMissingBarrierChangesTheAnswer) {
  const std::string without = "__shared__ int s[256];\n s[t] = t;\n out[t] = s[255 - t];";
  std::vector<int> reversed = Iota(256);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_NE(Ints(without, 256), reversed);
}

TEST_F(Emulator, AMissingSecondBarrierChangesTheAnswer) {
  auto sum = [&](const std::string& second) {
    return Ints(
        "__shared__ int s[64];\n int mine = t;\n"
        "for (int i = 0; i < 8; ++i) {\n s[t] = mine;\n __syncthreads();\n"
        "mine = s[(t + 1) % 64] + 1;\n" +
            second + "}\n out[t] = mine;",
        64);
  };
  EXPECT_EQ(sum("__syncthreads();\n")[0], 16);
  EXPECT_NE(sum(""), sum("__syncthreads();\n"));
}

TEST_F(Emulator, SharedMemoryIsStaleBeforeItIsWritten) {
  EXPECT_THAT(Ints("__shared__ int s[32];\n out[t] = s[t];", 32), Each(-1));
  EXPECT_THAT(Ints("extern __shared__ int d[];\n out[t] = d[t];", 32, 0, 128), Each(-1));
}

TEST_F(Emulator, DynamicSharedMemoryIsSharedByTheBlock) {
  EXPECT_EQ(Ints("extern __shared__ __align__(16) int d[];\n d[31 - t] = 31 - t;\n"
                 "__syncthreads();\n out[t] = d[t];",
                 32, 0, 128),
            Iota(32));
}

TEST_F(Emulator, ShufflesMoveValuesAsAWarpDoes) {
  struct Case {
    const char* expression;
    std::vector<int> want;  // of lanes 0, 1, 30, 31
  };
  const Case cases[] = {
      {"__shfl_sync(~0u, t, 3)", {3, 3, 3, 3}},
      {"__shfl_sync(~0u, t, 1, 8)", {1, 1, 25, 25}},
      {"__shfl_up_sync(~0u, t, 1)", {0, 0, 29, 30}},
      {"__shfl_down_sync(~0u, t, 2)", {2, 3, 30, 31}},
      {"__shfl_xor_sync(~0u, t, 1)", {1, 0, 31, 30}},
      {"__shfl_down_sync(~0u, t, 1, 16)", {1, 2, 31, 31}},
      {"int(__shfl_sync(~0u, double(t) + 0.5, 7) * 2)", {15, 15, 15, 15}},
      {"__reduce_add_sync(~0u, t)", {496, 496, 496, 496}},
      {"__popc(__ballot_sync(~0u, t % 3 == 0))", {11, 11, 11, 11}},
      {"__any_sync(~0u, t == 9)", {1, 1, 1, 1}},
      {"__all_sync(~0u, t < 31)", {0, 0, 0, 0}},
      {"int(__match_any_sync(~0u, t / 16) & 0x10001)", {1, 1, 65536, 65536}},
      {"__syncthreads_count(t < 5)", {5, 5, 5, 5}},
      {"__syncthreads_and(t < 32)", {1, 1, 1, 1}},
      {"__syncthreads_or(t > 40)", {0, 0, 0, 0}},
      {"int(__activemask())", {-1, -1, -1, -1}},
  };
  std::string body;
  for (const Case& c : cases) body += std::string("*out++ = ") + c.expression + ";\n";
  std::vector<int> got = Ints("out += t * " + std::to_string(std::size(cases)) + ";\n" + body, 32,
                              32 * std::size(cases));
  ASSERT_FALSE(got.empty());
  for (size_t i = 0; i < std::size(cases); ++i) {
    auto lane = [&](size_t l) { return got[l * std::size(cases) + i]; };
    EXPECT_THAT((std::vector<int>{lane(0), lane(1), lane(30), lane(31)}), cases[i].want)
        << cases[i].expression;
  }
}

TEST_F(Emulator, DivergedLanesShuffleAmongThemselves) {
  EXPECT_EQ(Ints("if (t < 16) out[t] = __shfl_sync(0xffffu, t, 5);\n"
                 "else out[t] = __shfl_sync(0xffff0000u, t, 20);",
                 32)[31],
            20);
}

TEST_F(Emulator, HalvesRoundToNearestEven) {
  EXPECT_THAT(Ints("const float x[] = {1.0f, 1.00390625f, 1.01171875f, 3.4e38f, -2.5f};\n"
                   "out[t] = __bfloat16_as_ushort(__float2bfloat16(x[t]));",
                   5),
              ElementsAre(0x3f80, 0x3f80, 0x3f82, 0x7f80, 0xc020));
  EXPECT_THAT(Ints("const float x[] = {1.0f, 65519.0f, 65520.0f, 5.9604645e-8f, 1.00048828125f};\n"
                   "out[t] = __half_as_ushort(__float2half(x[t]));",
                   5),
              ElementsAre(0x3c00, 0x7bff, 0x7c00, 1, 0x3c00));
}

// In this process, as a worker has many: the library's path was the same for both once.
TEST_F(Emulator, TwoModulesWithOneKernelNameAreTwoKernels) {
  std::string why;
  const auto driver = cuda::OpenDriver(KB_FAKE_CUDA, &why);
  ASSERT_NE(driver, nullptr) << why;
  ASSERT_EQ(driver->Init(0), 0);
  std::vector<int> answers;
  std::vector<cuda::Module> modules;
  for (const char* body : {"*out = 1;", "*out = 2;", "*out = 3;"}) {
    modules.push_back(nullptr);
    ASSERT_EQ(driver->ModuleLoadData(&modules.back(), Compiled(Kernel(body)).data()), 0);
    if (modules.size() != 2) continue;
    ASSERT_EQ(driver->ModuleUnload(modules[1]), 0);
  }
  for (const cuda::Module module : {modules[0], modules[2]}) {
    cuda::Function function = nullptr;
    cuda::DevicePointer out = 0;
    ASSERT_EQ(driver->ModuleGetFunction(&function, module, "f"), 0);
    ASSERT_EQ(driver->MemAlloc(&out, sizeof(int)), 0);
    void* args[] = {&out, &out};
    cuda::LaunchConfig once;
    ASSERT_EQ(driver->LaunchKernelEx(&once, function, args, nullptr), 0);
    answers.push_back(0);
    ASSERT_EQ(driver->MemcpyDtoH(&answers.back(), out, sizeof(int)), 0);
    ASSERT_EQ(driver->MemFree(out), 0);
    ASSERT_EQ(driver->ModuleUnload(module), 0);
  }
  EXPECT_THAT(answers, ElementsAre(1, 3));
}

struct Fault {
  const char* name;
  const char* body;
  const char* error;
};
class EmulatorFault : public Emulator, public ::testing::WithParamInterface<Fault> {};

TEST_P(EmulatorFault, IsSeen) {
  Launch launch;
  launch.block = 64;
  launch.shared_bytes = 256;
  launch.out_bytes = 1024;
  EmulatedRun done =
      Run(Kernel(std::string("  __shared__ int s[64];\n  extern __shared__ int d[];\n"
                             "  s[t] = d[t] = t;\n") +
                 GetParam().body),
          launch, {"KB_EMULATOR_LIMIT_S=1"});
  EXPECT_THAT(done.error, HasSubstr(GetParam().error)) << done.result;
  EXPECT_TRUE(done.outputs.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, EmulatorFault,
    ::testing::Values(
        Fault{"PastTheEnd", "out[256 + t] = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"BeforeTheBegin", "out[-100000 - t] = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"ReadPastTheEnd", "if (out[1 << 20] == 3) out[0] = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"Null", "*(volatile int*)nullptr = t;", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"StaticSharedOverrun", "s[t + 64] = 1; out[t] = s[0];", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"DynamicSharedOverrun", "d[t + 64] = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"DynamicSharedFarOverrun", "d[t + 4096] = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"},
        Fault{"Misaligned", "*(int4*)(out + 1) = make_int4(1, 2, 3, 4);",
              "CUDA_ERROR_MISALIGNED_ADDRESS"},
        Fault{"Trap", "if (t == 9) __trap();", "CUDA_ERROR_LAUNCH_FAILED"},
        Fault{"Assert", "assert(t < 63);", "CUDA_ERROR_ASSERT"},
        Fault{"WarpFunctionOfSomeLanes",
              "if (t < 7) out[t] = __shfl_sync(~0u, t, 0);\n"
              "__syncthreads();",
              "CUDA_ERROR_LAUNCH_TIMEOUT"},
        Fault{"LaneOutsideItsMask", "__syncwarp(1u);", "CUDA_ERROR_LAUNCH_FAILED"},
        Fault{"EndlessLoop", "while (*(volatile int*)out == -1) {}", "CUDA_ERROR_LAUNCH_TIMEOUT"},
        Fault{"EndlessRecursionOfStack",
              "int a[100000]; for (int i = 0; i < 100000; ++i) "
              "((volatile int*)a)[i] = t;",
              "CUDA_ERROR_ILLEGAL_ADDRESS"}),
    [](const auto& test) { return std::string(test.param.name); });

struct Launching {
  const char* name;
  unsigned block, shared_bytes;
  const char* kernel;
  int result;
};
class EmulatorLimits : public Emulator, public ::testing::WithParamInterface<Launching> {};

TEST_P(EmulatorLimits, AreThoseOfTheGpu) {
  Launch launch;
  launch.block = GetParam().block;
  launch.shared_bytes = GetParam().shared_bytes;
  launch.kernel = GetParam().kernel;
  EXPECT_EQ(Run(Kernel("__shared__ int s[1024]; s[t] = 1;"), launch).result, GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(All, EmulatorLimits,
                         ::testing::Values(Launching{"Fits", 1024, 0, "f", 0},
                                           Launching{"TooManyThreads", 1025, 0, "f", 1},
                                           Launching{"MuchShared", 32, 200 << 10, "f", 0},
                                           Launching{"StaticAndDynamicTooMuch", 32, 226 << 10, "f",
                                                     1},
                                           Launching{"NoSuchKernel", 32, 0, "g", 500}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(Emulator, IsQuickEnoughForAMillionElements) {
  Launch launch;
  launch.grid = 4096;
  launch.block = 256;
  launch.in.assign(1 << 20, 1.0f);
  launch.out_bytes = 4096 * sizeof(int);
  const auto start = std::chrono::steady_clock::now();
  EmulatedRun done =
      Run(Kernel("__shared__ float s[8];\n"
                 "float v = in[blockIdx.x * 256 + t];\n"
                 "for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);\n"
                 "if (t % 32 == 0) s[t / 32] = v;\n"
                 "__syncthreads();\n"
                 "if (t == 0) {\n"
                 "  for (int i = 1; i < 8; ++i) v += s[i];\n"
                 "  out[blockIdx.x] = int(v);\n"
                 "}"),
          launch);
  ASSERT_EQ(done.result, 0) << done.error;
  EXPECT_THAT(Elements<int>(done.outputs["out"]), Each(256));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST_F(Emulator, AnInputThatWasWrittenToIsAnError) {
  EXPECT_THAT(Run(Kernel("((float*)in)[0] = 1; out[0] = 1;"), {}).error,
              HasSubstr("was written to"));
}

TEST_F(Emulator, AWriteJustPastTheEndIsSeen) {
  EXPECT_EQ(Run(Kernel("out[1] = 1;"), {}).result, 700);
}

TEST_F(Emulator, RefusesWhatItCannotRun) {
  CompileResult asm_code = EmulatedToolchain().Compile(
      {"extern \"C\" __global__ void f() {\n  asm volatile(\"trap;\");\n}\n", "t.cu", "", {}});
  EXPECT_FALSE(asm_code.ok);
  EXPECT_THAT(asm_code.log, HasSubstr("t.cu:2: error: the emulator does not run inline PTX"));
  CompileResult host = EmulatedToolchain().Compile({"#include <vector>\n", "t.cu", "", {}});
  EXPECT_FALSE(host.ok);
  CompileResult wrong =
      EmulatedToolchain().Compile({"__global__ void f() { g(); }\n", "t.cu", "", {}});
  EXPECT_FALSE(wrong.ok);
  EXPECT_THAT(wrong.log, HasSubstr("t.cu:1"));
}

TEST(FindKernels, FindsNamesInAnyOfTheUsualForms) {
  EXPECT_THAT(
      FindKernels("extern \"C\" __global__ void a(int x) {}\n"
                  "__global__ void __launch_bounds__(256, 2) b(int) {}\n"
                  "extern \"C\" __global__ __launch_bounds__(128)\n# 3 \"t.cu\"\nvoid c() {}"
                  "extern \"C\" __global__ void a(int x);"),
      ElementsAre("a", "b", "c"));
}

TEST(FindInlineAssembly, GivesTheLine) {
  EXPECT_EQ(FindInlineAssembly("int plasma;\n"), 0);
  EXPECT_EQ(FindInlineAssembly("a\n# 7 \"t.cu\"\nb\nasm(\"x\");"), 8);
}

}  // namespace
}  // namespace kb
