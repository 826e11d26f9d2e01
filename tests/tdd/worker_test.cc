// The worker from kb's side, over the whole way: child process, messages, files. The GPU is
// tests/tdd/small_cuda.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "kb/file.h"
#include "tdd/runner.h"
#include "tdd/sandbox.h"
#include "tdd/worker_process.h"
#include "tests/tdd/worker_fixture.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using test::Bytes;
using test::Floats;
using test::kN;
using test::Plan;
using test::WorkerTest;
using testing::HasSubstr;

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

TEST_F(WorkerTest, WhoAnswersInOtherWordsIsNotWaitedFor) {
  options_.kb = folder_ + "/babbler";
  std::ofstream(options_.kb) << "#!/bin/sh\necho nonsense >&3\nexec sleep 1000\n";
  fs::permissions(options_.kb, fs::perms::owner_all);
  const auto start = std::chrono::steady_clock::now();
  WorkerProcess worker(options_, false, false);
  const Value reply = worker.Ask("environment", Value(), 60, Blame::kOurs);
  EXPECT_EQ(reply["verdict"]["status"].AsString(), "INFRA_ERROR");
  EXPECT_TRUE(worker.dead());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// As compute-sanitizer does: a tool that runs its arguments and writes its log in the end.
std::vector<std::string> LoggingTool(const std::string& log) {
  return {"/bin/sh", "-c", "log=$1; shift; \"$@\"; echo \"ended with $?\" >>\"$log\"", "tool", log};
}

TEST_F(WorkerTest, AToolInFrontOfAWorkerWritesItsLogToTheEnd) {
  for (const char* kernel : {"add_one", "illegal"}) {
    const std::string log = folder_ + "/log." + kernel;
    options_.prefix = LoggingTool(log);
    StartWithKernels();
    EXPECT_EQ(RunKernel(kernel).verdict.passed(), std::string(kernel) == "add_one");
    runner_.reset();
    EXPECT_EQ(ReadFile(log), "ended with 0\n") << kernel;
  }
}

TEST_F(WorkerTest, BehindAToolThereIsOneWorkerAtATime) {
  const std::string log = folder_ + "/log";
  options_.prefix = LoggingTool(log);
  StartWithHost();
  ExpectRight(RunPlanned(test::HostPlan(test::kRight), 2));
  const std::string first = ReadFile(log).value_or("");
  runner_.reset();
  EXPECT_EQ(ReadFile(log), first + "ended with 0\n");
  EXPECT_THAT(first, HasSubstr("ended with 0\n"));
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

}  // namespace
}  // namespace kb
