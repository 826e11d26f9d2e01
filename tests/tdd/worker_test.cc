// The worker from kb's side, over the whole way: child process, messages, files. The GPU is
// tests/tdd/small_cuda.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "kb/file.h"
#include "kb/json.h"
#include "tdd/gpu_lock.h"
#include "tdd/nvml.h"
#include "tdd/process.h"
#include "tdd/runner.h"
#include "tdd/sandbox.h"
#include "tdd/worker_messages.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr int kN = 100;
constexpr double kScalar = 0.5;

template <typename T>
std::string Bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::vector<float> Floats(const std::string& path) {
  const std::string bytes = ReadFile(path).value_or("");
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

// y = kernel(x), kN floats.
RunPlan Plan(const std::string& kernel) {
  RunPlan plan;
  plan.buffers = {{BufferPlan::Role::kInput, "x", 4 * kN, false},
                  {BufferPlan::Role::kOutput, "y", 4 * kN, false}};
  LaunchPlan launch;
  launch.kernel = kernel;
  launch.args = {{"x", "", ""}, {"y", "", ""}, {"", "", Bytes(kN)}};
  plan.launches = {launch};
  return plan;
}

RunPlan HostPlan(int64_t manner) {
  RunPlan plan = Plan("");
  plan.launches.clear();
  plan.axes = {kN, manner};
  plan.scalars = {kScalar};
  return plan;
}

enum Manner { kRight, kExits, kFails, kCrashes, kForks, kHides, kCounts, kWrites, kForges };

class WorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "kb_worker_" + std::to_string(getpid());
    fs::create_directories(folder_);
    options_.kb = KB_BINARY;
    options_.driver = KB_SMALL_CUDA;
    options_.environment = {std::string("FAKE_DRIVER=") + KB_SMALL_CUDA,
                            "FAKE_OUTSIDE=" + folder_ + "/outside"};
    for (int set = 0; set < 4; ++set) WriteInputs(set);
  }
  void TearDown() override {
    runner_.reset();
    fs::remove_all(folder_);
  }

  std::string Inputs(int set) const { return folder_ + "/inputs" + std::to_string(set); }

  // x[i] = i + 1000 * set.
  void WriteInputs(int set) {
    fs::create_directories(Inputs(set));
    std::ofstream file(Inputs(set) + "/in.x", std::ios::binary);
    for (int i = 0; i < kN; ++i) file << Bytes(static_cast<float>(i + 1000 * set));
  }

  Runner& Start() {
    Verdict why;
    runner_ = StartWorker(options_, &why);
    EXPECT_NE(runner_, nullptr) << why.message;
    return *runner_;
  }

  // Program 1: all kernels of the fake.
  Runner& StartWithKernels() {
    Runner& runner = Start();
    const Verdict loaded = runner.Load(
        {1, false,
         "FAKE\nadd_one\nslow\nnone\nwrites_nothing\npast_end\nbefore_start\npast_input\nmutates\n"
         "illegal\ntrap\nmisaligned\nhang\ncrash\ncounts\nscratch"});
    EXPECT_TRUE(loaded.passed()) << loaded.message;
    return runner;
  }

  // Program 2.
  Runner& StartWithHost() {
    Runner& runner = StartWithKernels();
    const Verdict loaded =
        runner.Load({2, true, ReadFile(KB_HOST_CANDIDATE, nullptr, 64 << 20).value_or("")});
    EXPECT_TRUE(loaded.passed()) << loaded.message;
    return runner;
  }

  RunReply RunPlanned(const RunPlan& plan, int program = 1, double timeout_s = 20) {
    RunRequest request;
    request.program = program;
    request.plan = plan;
    request.folder = Inputs(0);
    request.timeout_s = timeout_s;
    fs::remove(Inputs(0) + "/out.y");
    return runner_->Run(request);
  }
  RunReply RunKernel(const std::string& kernel) { return RunPlanned(Plan(kernel)); }

  void ExpectRight(const RunReply& reply) {
    EXPECT_TRUE(reply.verdict.passed()) << VerdictName(reply.verdict) << reply.verdict.message;
    const std::vector<float> y = Floats(Inputs(0) + "/out.y");
    ASSERT_EQ(y.size(), kN);
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[kN - 1], kN);
  }

  MeasureRequest Request(const RunPlan& baseline, const RunPlan& candidate) const {
    MeasureRequest request;
    request.baseline = {1, baseline};
    request.candidate = {candidate.launches.empty() ? 2 : 1, candidate};
    for (int set = 0; set < 4; ++set) request.input_folders.push_back(Inputs(set));
    request.rounds = 6;
    request.checked_rounds = {0, 3};
    request.check_folder = folder_ + "/check";
    return request;
  }

  std::string folder_;
  WorkerOptions options_;
  std::unique_ptr<Runner> runner_;
};

TEST_F(WorkerTest, TheEnvironmentIsReadFromTheDriver) {
  const Environment& environment = Start().environment();
  EXPECT_EQ(environment.gpu, "Small Fake");
  EXPECT_EQ(environment.arch, "sm_90");
  EXPECT_EQ(environment.gpu_uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
  EXPECT_EQ(environment.cuda, "13.1");
  EXPECT_EQ(environment.driver, "590.1");
  EXPECT_EQ(environment.multiprocessors, 2);
  EXPECT_EQ(environment.l2_bytes, 1 << 20);
  EXPECT_TRUE(environment.emulated);
  EXPECT_EQ(environment.sandbox, BestSandbox().name);
}

TEST_F(WorkerTest, WithoutADeviceItIsSkippedAndSaysWhy) {
  struct {
    const char* driver;
    const char* mode;
    Status status;
    const char* message;
  } const cases[] = {
      {"/nowhere/libcuda.so.1", "", Status::kSkipped, "no NVIDIA driver"},
      {KB_HOST_CANDIDATE, "", Status::kSkipped, "has no cuGetErrorString"},
      {KB_SMALL_CUDA, "FAKE_CUDA=none", Status::kSkipped, "there is no GPU"},
      {KB_SMALL_CUDA, "FAKE_CUDA=fail", Status::kInfraError, "start the driver (cuInit)"},
  };
  for (const auto& c : cases) {
    options_.driver = c.driver;
    options_.environment = {c.mode};
    Verdict why;
    EXPECT_EQ(StartWorker(options_, &why), nullptr);
    EXPECT_EQ(why.status, c.status) << c.message;
    EXPECT_EQ(why.kind, c.status == Status::kSkipped ? "no device" : "");
    EXPECT_THAT(why.message, HasSubstr(c.message));
  }
}

TEST_F(WorkerTest, AnotherProgramThanKbIsNoWorker) {
  for (const char* program : {"/bin/true", "/bin/cat", "/nowhere/kb"}) {
    options_.kb = program;
    Verdict why;
    EXPECT_EQ(StartWorker(options_, &why), nullptr);
    EXPECT_EQ(why.status, Status::kInfraError) << program << why.message;
  }
}

TEST_F(WorkerTest, ARightKernelsOutputsAreWritten) {
  StartWithKernels();
  const RunReply reply = RunKernel("add_one");
  ExpectRight(reply);
  EXPECT_GE(reply.device_us, 0);
  EXPECT_GE(RunKernel("slow").device_us, 300);
}

TEST_F(WorkerTest, EachFaultHasItsVerdictAndTheNextRunIsUnharmed) {
  StartWithKernels();
  struct {
    const char* kernel;
    Status status;
    const char* kind;
    const char* message;
  } const cases[] = {
      {"past_end", Status::kRuntimeError, "guard",
       "outside of y, which has 400 bytes: at byte offset 408"},
      {"before_start", Status::kRuntimeError, "guard",
       "outside of y, which has 400 bytes: at byte offset -4"},
      {"past_input", Status::kRuntimeError, "guard", "outside of x"},
      {"mutates", Status::kRewardHack, "inputs-mutated",
       "changed the input x, first at byte offset 6"},
      {"illegal", Status::kRuntimeError, "", "CUDA_ERROR_ILLEGAL_ADDRESS: as the fake says"},
      {"trap", Status::kRuntimeError, "", "CUDA_ERROR_LAUNCH_FAILED"},
      {"misaligned", Status::kRuntimeError, "", "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {"crash", Status::kRuntimeError, "", "signal 11"},
      {"absent", Status::kLinkError, "", "no kernel absent; it has add_one, before_start"},
  };
  for (const auto& c : cases) {
    const RunReply reply = RunKernel(c.kernel);
    EXPECT_EQ(reply.verdict.status, c.status) << c.kernel << reply.verdict.message;
    EXPECT_EQ(reply.verdict.kind, c.kind);
    EXPECT_THAT(reply.verdict.message, HasSubstr(c.message));
    EXPECT_FALSE(fs::exists(Inputs(0) + "/out.y"));
    ExpectRight(RunKernel("add_one"));
  }
}

TEST_F(WorkerTest, AHangEndsAtItsDeadline) {
  StartWithKernels();
  const auto start = std::chrono::steady_clock::now();
  const RunReply reply = RunPlanned(Plan("hang"), 1, 0.5);
  EXPECT_EQ(reply.verdict.status, Status::kTimeoutRun) << reply.verdict.message;
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  ExpectRight(RunKernel("add_one"));
}

TEST_F(WorkerTest, WhatIsNotWrittenStaysPoisoned) {
  StartWithKernels();
  ASSERT_TRUE(RunKernel("writes_nothing").verdict.passed());
  EXPECT_EQ(ReadFile(Inputs(0) + "/out.y"), std::string(4 * kN, '\xff'));
}

TEST_F(WorkerTest, WorkspacesAreClearedOrPoisoned) {
  StartWithKernels();
  for (const bool zero : {false, true}) {
    RunPlan plan = Plan("scratch");
    plan.buffers.push_back({BufferPlan::Role::kWorkspace, "w", 64, zero});
    plan.launches[0].args.push_back({"w", "", ""});
    ASSERT_TRUE(RunPlanned(plan).verdict.passed());
    EXPECT_EQ(Floats(Inputs(0) + "/out.y")[5], zero ? 0 : 255);
  }
}

TEST_F(WorkerTest, TwoRunsAreComparedBitByBit) {
  StartWithKernels();
  for (const char* kernel : {"add_one", "counts"}) {
    RunRequest request;
    request.program = 1;
    request.plan = Plan(kernel);
    request.folder = Inputs(0);
    request.repeats = 2;
    const RunReply reply = runner_->Run(request);
    EXPECT_TRUE(reply.verdict.passed()) << reply.verdict.message;
    EXPECT_EQ(reply.deterministic, std::string(kernel) == "add_one");
  }
}

TEST_F(WorkerTest, LaunchesThatCannotBeAreLaunchErrors) {
  StartWithKernels();
  RunPlan plan = Plan("add_one");
  plan.launches[0].block = {2048, 1, 1};
  RunReply reply = RunPlanned(plan);
  EXPECT_EQ(reply.verdict.status, Status::kLaunchError);
  EXPECT_THAT(reply.verdict.message,
              HasSubstr("launch 1 (kernel add_one, grid 1x1x1, block 2048x1x1, shared 0): "
                        "CUDA_ERROR_INVALID_VALUE"));
  plan = Plan("add_one");
  plan.launches[0].shared_bytes = 300 << 10;
  EXPECT_EQ(RunPlanned(plan).verdict.status, Status::kLaunchError);
  plan = Plan("add_one");
  plan.launches[0].args.pop_back();
  reply = RunPlanned(plan);
  EXPECT_EQ(reply.verdict.status, Status::kLaunchError);
  EXPECT_THAT(reply.verdict.message, HasSubstr("takes 3 arguments, launch.yaml gives 2"));
  plan = Plan("add_one");
  plan.launches[0].args[2].bytes = Bytes(int64_t{kN});
  EXPECT_THAT(RunPlanned(plan).verdict.message,
              HasSubstr("argument 3 has 4 bytes in the kernel and 8 in launch.yaml"));
  plan = Plan("add_one");
  plan.launches.push_back(plan.launches[0]);
  plan.launches[1].block = {2048, 1, 1};
  EXPECT_THAT(RunPlanned(plan).verdict.message, HasSubstr("launch 2"));
}

TEST_F(WorkerTest, OurOwnFaultsAreInfraErrors) {
  StartWithKernels();
  RunRequest request;
  request.program = 9;
  request.plan = Plan("add_one");
  request.folder = Inputs(0);
  EXPECT_EQ(runner_->Run(request).verdict.status, Status::kInfraError);
  request.program = 1;
  request.folder = folder_ + "/absent";
  EXPECT_EQ(runner_->Run(request).verdict.status, Status::kInfraError);
  request.folder = Inputs(0);
  request.plan.buffers[0].bytes = 4;
  EXPECT_THAT(runner_->Run(request).verdict.message, HasSubstr("is no file of 4 bytes"));
  request.plan = Plan("add_one");
  request.plan.buffers[1].name = "../y";
  EXPECT_EQ(runner_->Run(request).verdict.status, Status::kInfraError);
  request.plan = Plan("add_one");
  request.plan.buffers[1].bytes = int64_t{1} << 38;
  EXPECT_THAT(runner_->Run(request).verdict.message, HasSubstr("bytes of memory for y"));
  ExpectRight(RunKernel("add_one"));
}

TEST_F(WorkerTest, WhatIsNoProgramIsALinkError) {
  Runner& runner = Start();
  EXPECT_EQ(runner.Load({5, false, "not a cubin"}).status, Status::kLinkError);
  EXPECT_EQ(runner.Load({5, true, "not a shared object"}).status, Status::kLinkError);
  const Verdict verdict =
      runner.Load({5, true, ReadFile(KB_SMALL_CUDA, nullptr, 64 << 20).value_or("")});
  EXPECT_EQ(verdict.status, Status::kLinkError);
  EXPECT_THAT(verdict.message, HasSubstr("no function kb_run"));
}

TEST_F(WorkerTest, AProgramIsReplacedAndUnloaded) {
  Runner& runner = Start();
  ASSERT_TRUE(runner.Load({1, false, "FAKE\nnone"}).passed());
  EXPECT_EQ(RunKernel("add_one").verdict.status, Status::kLinkError);
  ASSERT_TRUE(runner.Load({1, false, "FAKE\nadd_one"}).passed());
  ExpectRight(RunKernel("add_one"));
  runner.Unload(1);
  EXPECT_EQ(RunKernel("add_one").verdict.status, Status::kInfraError);
}

TEST_F(WorkerTest, MeasuringInterleavesAndChecks) {
  StartWithKernels();
  for (const bool cold : {true, false}) {
    MeasureRequest request = Request(Plan("slow"), Plan("add_one"));
    request.cold_l2 = cold;
    const MeasureReply reply = runner_->Measure(request);
    ASSERT_TRUE(reply.verdict.passed()) << VerdictName(reply.verdict) << reply.verdict.message;
    ASSERT_EQ(reply.baseline_us.size(), 12U);
    ASSERT_EQ(reply.candidate_us.size(), 12U);
    EXPECT_THAT(reply.baseline_us, Each(Ge(300)));
    EXPECT_THAT(reply.candidate_us, Each(AllOf(Ge(0), Le(300))));
    EXPECT_EQ(reply.throttled.size(), 6U);
    EXPECT_NE(reply.throttled[0], reply.throttled[1]);
    ASSERT_EQ(reply.checked.size(), 2U);
    EXPECT_EQ(reply.checked[1].round, 3);
    EXPECT_EQ(reply.checked[1].input_folder, 2);  // rounds take two sets of four each
    EXPECT_EQ(Floats(reply.checked[1].folder + "/out.y")[5], 2006);
    EXPECT_EQ(reply.conditions["l2"].AsString(), cold ? "cold" : "warm");
    EXPECT_TRUE(reply.conditions["held"].AsBool());
    EXPECT_EQ(reply.conditions["before"]["sm_mhz"].AsDouble(), 1980);
    EXPECT_GT(reply.wall_s, 0.003);
  }
}

TEST_F(WorkerTest, ACandidateThatWritesNothingWhenTimedIsCaught) {
  StartWithKernels();
  for (const bool cold : {true, false}) {
    MeasureRequest request = Request(Plan("add_one"), Plan("writes_nothing"));
    request.cold_l2 = cold;
    const MeasureReply reply = runner_->Measure(request);
    ASSERT_TRUE(reply.verdict.passed()) << reply.verdict.message;
    EXPECT_TRUE(std::isnan(Floats(reply.checked[0].folder + "/out.y")[0]));
  }
}

TEST_F(WorkerTest, FaultsWhileTimedHaveTheirVerdicts) {
  StartWithKernels();
  struct {
    const char* kernel;
    const char* verdict;
  } const cases[] = {{"past_end", "RUNTIME_ERROR"},
                     {"mutates", "REWARD_HACK(inputs-mutated)"},
                     {"illegal", "RUNTIME_ERROR"},
                     {"crash", "RUNTIME_ERROR"},
                     {"absent", "LINK_ERROR"}};
  for (const auto& c : cases) {
    const MeasureReply reply = runner_->Measure(Request(Plan("add_one"), Plan(c.kernel)));
    EXPECT_THAT(VerdictName(reply.verdict), testing::StartsWith(c.verdict))
        << reply.verdict.message;
    EXPECT_TRUE(reply.candidate_us.empty());
    ExpectRight(RunKernel("add_one"));
  }
  MeasureRequest request = Request(Plan("add_one"), Plan("hang"));
  request.timeout_s = 0.5;
  EXPECT_EQ(runner_->Measure(request).verdict.status, Status::kTimeoutRun);
}

TEST_F(WorkerTest, RoundsEndBeforeTheDeadline) {
  StartWithKernels();
  MeasureRequest request = Request(Plan("slow"), Plan("slow"));
  request.rounds = 100000;
  request.timeout_s = 2;
  const MeasureReply reply = runner_->Measure(request);
  EXPECT_TRUE(reply.verdict.passed()) << reply.verdict.message;
  EXPECT_GT(reply.candidate_us.size(), 10U);
  EXPECT_LT(reply.wall_s, 2);
}

TEST_F(WorkerTest, BuffersOfDifferentInputsAreRefused) {
  StartWithKernels();
  RunPlan other = Plan("add_one");
  other.buffers[0].bytes = 8;
  EXPECT_EQ(runner_->Measure(Request(Plan("add_one"), other)).verdict.status, Status::kInfraError);
}

TEST_F(WorkerTest, EnergyIsWattsTimesSeconds) {
  StartWithKernels();
  const auto start = std::chrono::steady_clock::now();
  const EnergyReply reply = runner_->Energy({{1, Plan("slow")}, Inputs(0), 0.5});
  const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ASSERT_TRUE(reply.verdict.passed()) << reply.verdict.message;
  EXPECT_GT(reply.runs, 20);
  const double joules = reply.joules_per_run * static_cast<double>(reply.runs);
  EXPECT_GE(joules, 45);  // 100 W, for half a second at least
  EXPECT_LE(joules, 100 * s);
}

TEST_F(WorkerTest, PeaksNameHowTheyWereMeasured) {
  const PeaksReply reply = Start().MeasurePeaks();
  ASSERT_TRUE(reply.verdict.passed()) << reply.verdict.message;
  EXPECT_GT(reply.peaks.copy_bytes_per_s, 1e8);
  EXPECT_EQ(reply.peaks.bf16_flops_per_s, 0);
  EXPECT_THAT(reply.peaks.how, HasSubstr("copy of 4 MiB on the device"));
  EXPECT_THAT(reply.peaks.how, HasSubstr("no cuBLAS"));
}

TEST_F(WorkerTest, AHostCandidateRuns) {
  StartWithHost();
  ExpectRight(RunPlanned(HostPlan(kRight), 2));
  const MeasureReply reply = runner_->Measure(Request(Plan("slow"), HostPlan(kRight)));
  ASSERT_TRUE(reply.verdict.passed()) << VerdictName(reply.verdict) << reply.verdict.message;
  EXPECT_THAT(reply.candidate_us, Each(Ge(200)));
  EXPECT_FALSE(reply.conditions["held"].AsBool());
  EXPECT_EQ(Floats(reply.checked[0].folder + "/out.y")[5], 6);
}

TEST_F(WorkerTest, WhatAHostCandidateDoesToItsProcessStaysThere) {
  StartWithHost();
  struct {
    Manner manner;
    Status status;
    const char* message;
  } const cases[] = {
      {kExits, Status::kRuntimeError, "ended with code 0"},
      {kFails, Status::kRuntimeError, "kb_run returned 3"},
      {kCrashes, Status::kRuntimeError, "signal 11"},
      {kForks, Status::kRuntimeError, "more processes than it may"},
      {kWrites, BestSandbox().mounts ? Status::kPassed : Status::kRuntimeError, ""},
  };
  for (const auto& c : cases) {
    if (c.manner == kForks && !BestSandbox().mounts) continue;
    const RunReply reply = RunPlanned(HostPlan(c.manner), 2);
    EXPECT_EQ(reply.verdict.status, c.status) << reply.verdict.message;
    EXPECT_THAT(reply.verdict.message, HasSubstr(c.message));
    ExpectRight(RunPlanned(HostPlan(kRight), 2));
    ExpectRight(RunKernel("add_one"));
  }
  EXPECT_EQ(fs::exists(folder_ + "/outside"), !BestSandbox().mounts);
}

TEST_F(WorkerTest, WorkOnAnotherStreamIsCountedAndTold) {
  StartWithHost();
  const MeasureReply reply = runner_->Measure(Request(Plan("slow"), HostPlan(kHides)));
  EXPECT_EQ(VerdictName(reply.verdict), "REWARD_HACK(stream)") << reply.verdict.message;
}

TEST_F(WorkerTest, AnAnswerForgedByTheCandidateBringsNoOutputs) {
  StartWithHost();
  const RunReply reply = RunPlanned(HostPlan(kForges), 2, 5);
  EXPECT_FALSE(reply.verdict.passed());
  EXPECT_FALSE(fs::exists(Inputs(0) + "/out.y"));
}

TEST_F(WorkerTest, StateOfAHostCandidateIsNotTimed) {
  StartWithHost();
  RunPlanned(HostPlan(kCounts), 2);
  RunPlanned(HostPlan(kCounts), 2);
  EXPECT_EQ(Floats(Inputs(0) + "/out.y")[0], 1);
  MeasureRequest request = Request(HostPlan(kCounts), HostPlan(kCounts));
  request.baseline.program = 2;
  ASSERT_TRUE(runner_->Measure(request).verdict.passed());
  RunPlanned(HostPlan(kCounts), 2);
  EXPECT_EQ(Floats(Inputs(0) + "/out.y")[0], 0);  // another process
}

// ---- what stands beside the worker ----

TEST_F(WorkerTest, TimingsOfOneGpuExcludeEachOther) {
  const GpuLock first("GPU-1", GpuUse::kAlone, 0, folder_);
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(GpuLock("GPU-1", GpuUse::kAlone, 0, folder_).held());
  EXPECT_FALSE(GpuLock("GPU-1", GpuUse::kShared, 0.05, folder_).held());
  EXPECT_TRUE(GpuLock("GPU-2", GpuUse::kAlone, 0, folder_).held());
  const GpuLock shared("../GPU/3", GpuUse::kShared, 0, folder_);
  EXPECT_TRUE(GpuLock("../GPU/3", GpuUse::kShared, 0, folder_).held());
  EXPECT_FALSE(GpuLock("../GPU/3", GpuUse::kAlone, 0, folder_).held());
  EXPECT_TRUE(GpuLock("GPU-1", GpuUse::kAlone, 0, folder_ + "/absent").held());
}

TEST(Nvml, SaysNothingWhereThereIsNone) {
  const Nvml nvml("GPU-x", "/nowhere/libnvidia-ml.so.1");
  EXPECT_FALSE(nvml.available());
  EXPECT_FALSE(nvml.Throttled());
  EXPECT_EQ(nvml.EnergyMillijoules(), std::nullopt);
  EXPECT_TRUE(nvml.Conditions().AsMap().empty());
  EXPECT_FALSE(Nvml("GPU-other", KB_SMALL_CUDA).available());
}

TEST(Messages, SurviveTheWayThereAndBack) {
  MeasureRequest measure;
  measure.baseline = {1, Plan("a")};
  measure.candidate = {2, HostPlan(3)};
  measure.input_folders = {"/a", "/b c"};
  measure.checked_rounds = {1, 4};
  measure.rounds = 5;
  measure.cold_l2 = false;
  const Value value = ToValue(measure);
  const auto back = MeasureRequestFromValue(*ParseJson(WriteJson(value)));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(ToValue(*back), value);
  MeasureReply reply;
  reply.verdict = {Status::kRewardHack, "timer", "why"};
  reply.baseline_us = {1.5, 2};
  reply.candidate_us = {3, 0.1};
  reply.throttled = {true, false};
  reply.checked = {{1, 2, "check.0"}};
  const auto reply_back = MeasureReplyFromValue(*ParseJson(WriteJson(ToValue(reply))));
  ASSERT_TRUE(reply_back.has_value());
  EXPECT_EQ(ToValue(*reply_back), ToValue(reply));
}

TEST(Messages, UnsoundPlansAreRefused) {
  RunPlan plan = Plan("k");
  EXPECT_TRUE(IsSoundPlan(plan));
  const auto refused = [](RunPlan changed) { return !IsSoundPlan(changed); };
  for (const char* name : {"", "../x", "a/b", ".x", "x"}) {  // "x" is there already
    plan = Plan("k");
    plan.buffers[1].name = name;
    EXPECT_TRUE(refused(plan)) << name;
  }
  plan = Plan("k");
  plan.buffers[0].bytes = -1;
  EXPECT_TRUE(refused(plan));
  plan = Plan("k");
  plan.launches[0].args[0].buffer = "z";
  EXPECT_TRUE(refused(plan));
  plan = Plan("k");
  plan.launches[0].grid[1] = 0;
  EXPECT_TRUE(refused(plan));
  plan = Plan("k");
  plan.maps = {{"m", "z", 0, {}, {}, {}, 0}};
  EXPECT_TRUE(refused(plan));
}

TEST(WorkerCommand, AnswersWhatIsNoRequestAndGoesOn) {
  ChannelPair pair = MakeChannel();
  ProcessOptions options;
  options.argv = {KB_BINARY, "worker", "--fd", "3", "--driver", KB_SMALL_CUDA};
  options.channel = pair.theirs;
  Process process(options);
  close(pair.theirs);
  std::string line;
  for (const char* request :
       {"", "nonsense", "[]", "{}", "{\"op\":7}", "{\"op\":\"run\"}", "{\"op\":\"measure\"}",
        "{\"op\":\"load\",\"id\":1,\"file\":\"../x\"}", "{\"op\":\"energy\",\"timed\":[]}"}) {
    ASSERT_TRUE(pair.ours.Send(request));
    ASSERT_TRUE(pair.ours.Receive(&line, 20)) << request;
    EXPECT_EQ((*ParseJson(line))["verdict"]["status"].AsString(), "INFRA_ERROR") << request;
  }
  { const Channel gone(std::move(pair.ours)); }
  EXPECT_EQ(process.Wait().exit_code, 0);
}

TEST(WorkerCommand, WithoutASocketItSaysWhatItIsFor) {
  ProcessOptions options;
  options.argv = {KB_BINARY, "worker"};
  const ProcessResult result = RunProcess(options);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.talk, HasSubstr("serves kb itself"));
}

}  // namespace
}  // namespace kb
