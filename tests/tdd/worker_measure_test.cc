// Timing, energy, peaks and host candidates, over the whole way. The GPU is
// tests/tdd/small_cuda.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>

#include "tdd/runner.h"
#include "tdd/sandbox.h"
#include "tests/tdd/worker_fixture.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using test::Floats;
using test::HostPlan;
using test::kCounts;
using test::kCrashes;
using test::kDeinitializes;
using test::kExits;
using test::kFails;
using test::kForges;
using test::kForks;
using test::kHides;
using test::kLosesContext;
using test::kPersists;
using test::kResets;
using test::kRight;
using test::kWrites;
using test::Manner;
using test::Plan;
using test::WorkerTest;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

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

TEST_F(WorkerTest, WhoLeavesOldOutputsAloneGetsNoEnergy) {
  StartWithKernels();
  ASSERT_TRUE(RunKernel("lazy").verdict.passed());
  const EnergyReply lazy = runner_->Energy({{1, Plan("lazy")}, Inputs(0), 0.2});
  EXPECT_EQ(VerdictName(lazy.verdict), "REWARD_HACK(timed-output)") << lazy.verdict.message;
  EXPECT_EQ(lazy.joules_per_run, 0);
  const EnergyReply honest = runner_->Energy({{1, Plan("add_one")}, Inputs(0), 0.2});
  EXPECT_TRUE(honest.verdict.passed()) << honest.verdict.message;
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
      {kResets, Status::kRuntimeError, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
      {kLosesContext, Status::kRuntimeError, "has ended the context that it was given"},
      {kDeinitializes, Status::kRuntimeError, "has ended the context that it was given"},
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
  EXPECT_EQ(VerdictName(reply.verdict), "REWARD_HACK(forged-reply)") << reply.verdict.message;
  EXPECT_FALSE(fs::exists(Inputs(0) + "/out.y"));
  ExpectRight(RunPlanned(HostPlan(kRight), 2));  // in another process
}

TEST_F(WorkerTest, L2ThatAHostCandidateSetsApartIsTold) {
  StartWithHost();
  const RunReply run = RunPlanned(HostPlan(kPersists), 2);
  EXPECT_EQ(VerdictName(run.verdict), "REWARD_HACK(persisting-l2)") << run.verdict.message;
  EXPECT_THAT(run.verdict.message, HasSubstr("1048576 bytes"));
  const MeasureReply timed = runner_->Measure(Request(Plan("slow"), HostPlan(kPersists)));
  EXPECT_EQ(VerdictName(timed.verdict), "REWARD_HACK(persisting-l2)") << timed.verdict.message;
  ExpectRight(RunPlanned(HostPlan(kRight), 2));
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

}  // namespace
}  // namespace kb
