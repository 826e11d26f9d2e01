// What stands beside the worker: messages, the hidden command, NVML, the GPU's lock.
#include "tdd/worker_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "kb/json.h"
#include "tdd/gpu_lock.h"
#include "tdd/nvml.h"
#include "tdd/process.h"
#include "tests/tdd/worker_fixture.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using test::HostPlan;
using test::Plan;
using testing::HasSubstr;

TEST(GpuLock, TimingsOfOneGpuExcludeEachOther) {
  const std::string folder = testing::TempDir() + "kb_lock_" + std::to_string(getpid());
  fs::create_directories(folder);
  const GpuLock first("GPU-1", GpuUse::kAlone, 0, folder);
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(GpuLock("GPU-1", GpuUse::kAlone, 0, folder).held());
  EXPECT_FALSE(GpuLock("GPU-1", GpuUse::kShared, 0.05, folder).held());
  EXPECT_TRUE(GpuLock("GPU-2", GpuUse::kAlone, 0, folder).held());
  const GpuLock shared("../GPU/3", GpuUse::kShared, 0, folder);
  EXPECT_TRUE(GpuLock("../GPU/3", GpuUse::kShared, 0, folder).held());
  EXPECT_FALSE(GpuLock("../GPU/3", GpuUse::kAlone, 0, folder).held());
  EXPECT_TRUE(GpuLock("GPU-1", GpuUse::kAlone, 0, folder + "/absent").held());
  fs::remove_all(folder);
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
  EXPECT_THAT(result.talk, HasSubstr("--job DIR"));
}

}  // namespace
}  // namespace kb
