// The worker on a real GPU. Skipped where there is none; with KB_REQUIRE_GPU=1 that is a failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "kb/file.h"
#include "kb/json.h"
#include "tdd/process.h"
#include "tdd/runner.h"
#include "tdd/sandbox.h"
#include "tdd/toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kSource[] = R"(
extern "C" {
__global__ void axpy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
__global__ void axpy4(const float4* x, float4* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  float4 v = x[i];
  y[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
}
__global__ void past_end(const float* x, float* y, int n) { y[n + threadIdx.x] = x[0]; }
__global__ void mutates(float* x, float* y, int n) { x[threadIdx.x] = y[0] = n; }
__global__ void illegal(const float* x, float* y, int n) { *(volatile float*)8 = n; }
__global__ void misaligned(const float* x, float* y, int n) { *(volatile int*)((char*)y + 1) = n; }
__global__ void traps(const float* x, float* y, int n) { asm("trap;"); }
__global__ void hangs(const float* x, float* y, int n) {
  while (*(volatile const float*)x > -1e30f) continue;
}
__global__ void nothing(const float* x, float* y, int n) {}
__global__ void big_shared(const float* x, float* y, int n) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2 * s[i] + 1;
}
__global__ void clustered(const float* x, float* y, int n) {
  unsigned blocks;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = blocks;
}
struct alignas(64) Map { unsigned long long words[16]; };
__global__ void mapped(const __grid_constant__ Map map, float* y, int n) {
  unsigned long long any = 0;
  for (int i = 0; i < 16; ++i) any |= map.words[i];
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = any != 0;
}
}
)";

template <typename T>
std::string Bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

bool GpuIsRequired() {
  const char* require = std::getenv("KB_REQUIRE_GPU");
  return require != nullptr && std::string(require) == "1";
}

class WorkerGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    Verdict why;
    WorkerOptions options;
    options.kb = KB_BINARY;
    runner_ = StartWorker(options, &why);
    std::string no_nvrtc;
    const auto nvrtc = OpenNvrtc(&no_nvrtc);
    if (runner_ == nullptr || nvrtc == nullptr) {
      ASSERT_FALSE(GpuIsRequired()) << why.message << no_nvrtc;
      GTEST_SKIP() << why.message << no_nvrtc;
    }
    folder_ = testing::TempDir() + "kb_gpu_" + std::to_string(getpid());
    fs::create_directories(folder_);
    const CompileResult compiled =
        nvrtc->Compile({kSource, "k.cu", runner_->environment().arch, {}});
    ASSERT_TRUE(compiled.ok) << compiled.log;
    const Verdict loaded = runner_->Load({1, false, compiled.cubin});
    ASSERT_TRUE(loaded.passed()) << loaded.message;
    SetSize(1000);
  }
  void TearDown() override {
    runner_.reset();
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  void SetSize(int n) {
    n_ = n;
    std::vector<float> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000);
    std::ofstream(folder_ + "/in.x", std::ios::binary)
        .write(reinterpret_cast<const char*>(x.data()),
               static_cast<std::streamsize>(x.size() * sizeof(float)));
  }

  RunPlan Plan(const std::string& kernel, int elements_a_block = 256) const {
    RunPlan plan;
    plan.buffers = {{BufferPlan::Role::kInput, "x", int64_t{4} * n_, false},
                    {BufferPlan::Role::kOutput, "y", int64_t{4} * n_, false}};
    LaunchPlan launch;
    launch.kernel = kernel;
    launch.grid[0] = (n_ + elements_a_block - 1) / elements_a_block;
    launch.block[0] = 256;
    launch.args = {{"x", "", ""}, {"y", "", ""}, {"", "", Bytes(n_)}};
    plan.launches = {launch};
    return plan;
  }

  RunReply RunPlanned(const RunPlan& plan, int program = 1, double timeout_s = 20) {
    RunRequest request;
    request.program = program;
    request.plan = plan;
    request.folder = folder_;
    request.timeout_s = timeout_s;
    return runner_->Run(request);
  }

  void ExpectRight(const RunPlan& plan, float want_second, int program = 1) {
    const RunReply reply = RunPlanned(plan, program);
    ASSERT_TRUE(reply.verdict.passed()) << VerdictName(reply.verdict) << reply.verdict.message;
    const std::string bytes = ReadFile(folder_ + "/out.y", nullptr, int64_t{1} << 32).value_or("");
    ASSERT_EQ(bytes.size(), size_t{4} * static_cast<size_t>(n_));
    float y[2];
    std::memcpy(y, bytes.data(), sizeof(y));
    EXPECT_EQ(y[1], want_second);
  }

  MeasureReply Measure(const RunPlan& baseline, const RunPlan& candidate, bool cold,
                       int program = 1) {
    MeasureRequest request;
    request.baseline = {1, baseline};
    request.candidate = {program, candidate};
    request.input_folders = {folder_, folder_};
    request.cold_l2 = cold;
    request.rounds = 100;
    request.checked_rounds = {7};
    request.check_folder = folder_ + "/check";
    MeasureReply reply = runner_->Measure(request);
    std::cout << "n " << n_ << (cold ? " cold" : " warm") << ": baseline "
              << Median(reply.baseline_us) << " us, candidate " << Median(reply.candidate_us)
              << " us, ratio " << Median(reply.baseline_us) / Median(reply.candidate_us)
              << ", wall " << reply.wall_s << " s, " << WriteJson(reply.conditions) << "\n";
    return reply;
  }

  std::unique_ptr<Runner> runner_;
  std::string folder_;
  int n_ = 0;
};

TEST_F(WorkerGpuTest, FaultsHaveTheirVerdictsAndTheNextRunIsUnharmed) {
  std::cout << WriteJson(runner_->environment().ToValue()) << "\n";
  EXPECT_EQ(runner_->environment().sandbox, BestSandbox().name);
  struct {
    const char* kernel;
    const char* verdict;
    const char* message;
  } const cases[] = {
      {"past_end", "RUNTIME_ERROR", "outside of y"},
      {"mutates", "REWARD_HACK(inputs-mutated)", "changed the input x"},
      {"illegal", "RUNTIME_ERROR", "ILLEGAL_ADDRESS"},
      {"misaligned", "RUNTIME_ERROR", "MISALIGNED_ADDRESS"},
      {"traps", "RUNTIME_ERROR", "CUDA_ERROR"},
      {"absent", "LINK_ERROR", "it has "},
      {"hangs", "TIMEOUT_RUN", "no answer to run within"},
  };
  for (const auto& c : cases) {
    const RunReply reply = RunPlanned(Plan(c.kernel), 1, 3);
    EXPECT_THAT(VerdictName(reply.verdict), testing::StartsWith(c.verdict)) << c.kernel;
    EXPECT_THAT(reply.verdict.message, HasSubstr(c.message));
    std::cout << c.kernel << ": " << reply.verdict.message << "\n";
    ExpectRight(Plan("axpy"), 3);
  }
}

TEST_F(WorkerGpuTest, LaunchErrorsNameTheLaunch) {
  RunPlan plan = Plan("axpy");
  plan.launches[0].block[0] = 2048;
  EXPECT_EQ(RunPlanned(plan).verdict.status, Status::kLaunchError);
  plan = Plan("axpy");
  plan.launches[0].args.pop_back();
  EXPECT_THAT(RunPlanned(plan).verdict.message, HasSubstr("takes 3 arguments"));
  plan = Plan("axpy");
  plan.launches[0].shared_bytes = 400 << 10;
  const RunReply reply = RunPlanned(plan);
  EXPECT_EQ(reply.verdict.status, Status::kLaunchError) << reply.verdict.message;
  ExpectRight(Plan("axpy"), 3);
}

TEST_F(WorkerGpuTest, SharedMemoryClustersAndTensorMaps) {
  SetSize(25 << 10);
  RunPlan plan = Plan("big_shared");
  plan.launches[0].grid[0] = 1;
  plan.launches[0].shared_bytes = 100 << 10;
  ExpectRight(plan, 3);
  for (const int64_t blocks : {2, 8, 16}) {
    plan = Plan("clustered");
    plan.launches[0].grid[0] = 16;
    plan.launches[0].cluster[0] = blocks;
    ExpectRight(plan, static_cast<float>(blocks));
  }
  plan = Plan("mapped");
  plan.maps = {{"m", "x", 7, {1024, 25}, {4096}, {32, 8}, 128}};
  plan.launches[0].args[0] = {"", "m", ""};
  ExpectRight(plan, 1);
  plan.maps[0].strides = {4095};
  EXPECT_THAT(RunPlanned(plan).verdict.message, HasSubstr("tensor map m"));
}

TEST_F(WorkerGpuTest, WiderLoadsAreFasterAndRepeatedRatiosAgree) {
  SetSize(1 << 26);
  double ratio[3];
  for (double& each : ratio) {
    const MeasureReply reply = Measure(Plan("axpy"), Plan("axpy4", 1024), true);
    ASSERT_TRUE(reply.verdict.passed()) << reply.verdict.message;
    ASSERT_EQ(reply.candidate_us.size(), 200U);
    EXPECT_TRUE(reply.conditions["held"].AsBool());
    each = Median(reply.baseline_us) / Median(reply.candidate_us);
    EXPECT_GT(each, 1);
  }
  EXPECT_NEAR(ratio[1] / ratio[0], 1, 0.005);
  EXPECT_NEAR(ratio[2] / ratio[0], 1, 0.005);
  for (const int n : {1 << 22, 1 << 14}) {
    SetSize(n);
    for (const bool cold : {true, false}) {
      EXPECT_TRUE(Measure(Plan("axpy"), Plan("axpy4", 1024), cold).verdict.passed());
    }
  }
  EXPECT_LT(Median(Measure(Plan("nothing"), Plan("nothing"), false).candidate_us), 5);
}

TEST_F(WorkerGpuTest, EnergyAndPeaksAreRead) {
  SetSize(1 << 24);
  const EnergyReply energy = runner_->Energy({{1, Plan("axpy")}, folder_, 1.5});
  ASSERT_TRUE(energy.verdict.passed()) << energy.verdict.message;
  std::cout << energy.joules_per_run << " J a run, " << energy.runs << " runs\n";
  EXPECT_GT(energy.joules_per_run, 0);
  const PeaksReply peaks = runner_->MeasurePeaks();
  ASSERT_TRUE(peaks.verdict.passed()) << peaks.verdict.message;
  std::cout << peaks.peaks.copy_bytes_per_s << " B/s, " << peaks.peaks.bf16_flops_per_s
            << " FLOP/s, " << peaks.peaks.how << "\n";
  EXPECT_GT(peaks.peaks.copy_bytes_per_s, 1e11);
}

constexpr char kHostSource[] = R"(
#include "kb_candidate.h"
#include <cuda_runtime.h>
__global__ void axpy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + 1;
}
extern "C" int kb_run(const kb_args* args, CUstream_st* stream) {
  int n = (int)args->axis_values[0];
  static cudaStream_t own = nullptr;
  if (args->axis_values[1] == 1 && own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  }
  axpy<<<(n + 255) / 256, 256, 0, args->axis_values[1] == 1 ? own : stream>>>(
      (const float*)args->pointers[0], (float*)args->pointers[1], n);
  return (int)cudaGetLastError();
}
)";

TEST_F(WorkerGpuTest, HostCandidatesShareTheContextAndCannotHideWork) {
  std::ofstream(folder_ + "/host.cu") << kHostSource;
  ProcessOptions options;
  options.argv = {"/usr/local/cuda/bin/nvcc",
                  "-arch=" + runner_->environment().arch,
                  "-shared",
                  "-Xcompiler",
                  "-fPIC",
                  "-I",
                  fs::absolute(KB_SOURCE_DIR).string() + "/tdd",
                  "-o",
                  folder_ + "/host.so",
                  folder_ + "/host.cu"};
  options.environment = {"PATH=/usr/local/cuda/bin:/usr/bin:/bin", "TMPDIR=" + folder_};
  options.writable = {folder_};
  options.timeout_s = 120;
  const ProcessResult built = RunProcess(options);
  if (built.exit_code != 0) GTEST_SKIP() << "no nvcc: " << built.why << built.talk;
  const auto binary = ReadFile(folder_ + "/host.so", nullptr, int64_t{1} << 28);
  ASSERT_TRUE(binary.has_value());
  const Verdict loaded = runner_->Load({2, true, *binary});
  ASSERT_TRUE(loaded.passed()) << loaded.message;
  SetSize(1 << 24);
  RunPlan plan = Plan("");
  plan.launches.clear();
  for (const int64_t hides : {0, 1}) {
    plan.axes = {n_, hides};
    ExpectRight(plan, 3, 2);
    const MeasureReply reply = Measure(Plan("axpy"), plan, true, 2);
    EXPECT_EQ(VerdictName(reply.verdict), hides == 1 ? "REWARD_HACK(stream)" : "PASSED")
        << reply.verdict.message;
  }
}

}  // namespace
}  // namespace kb
