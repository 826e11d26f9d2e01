#include "tdd/worker_run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "tdd/worker_tensors.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBatchS = 0.02;           // between looks at the energy counter
constexpr double kLongestTickS = 1;        // it moves every 100 ms where it is alive
constexpr int64_t kMostRunsABatch = 1000;  // queued at once
constexpr int64_t kRunsAPoison = 64;       // so that filling whole outputs hardly counts

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Runs the call over and over, and sees that it does its work each time.
class EnergyLoop {
 public:
  EnergyLoop(const Gpu& gpu, const Nvml& nvml, const Call& call, const OwnTensors& own)
      : gpu_(gpu), nvml_(nvml), call_(call), own_(own), windows_(own.ChooseWindows(gpu)) {}

  void Calibrate() {
    own_.PoisonAsync();
    call_.Enqueue();
    gpu_.Synchronize();
    windows_.Learn();
    const Clock::time_point start = Clock::now();
    Run(3);
    const double each = std::max(SecondsSince(start) / 3, 1e-7);
    batch_ = std::clamp(static_cast<int64_t>(kBatchS / each), int64_t{1}, kMostRunsABatch);
  }

  // To the next step of the counter, and at least for `seconds`. The counter then.
  std::optional<int64_t> RunToTick(double seconds) {
    const Clock::time_point start = Clock::now();
    while (SecondsSince(start) < seconds) Run(batch_);
    const std::optional<int64_t> before = nvml_.EnergyMillijoules();
    const Clock::time_point wait = Clock::now();
    while (before && SecondsSince(wait) < kLongestTickS) {
      Run(std::max<int64_t>(batch_ / 4, 1));
      const std::optional<int64_t> now = nvml_.EnergyMillijoules();
      if (now != before) return now;
    }
    return std::nullopt;
  }

  [[nodiscard]] int64_t runs() const { return runs_; }

 private:
  void Run(int64_t count) {
    if (runs_ >= next_poison_) {
      own_.PoisonAsync();
      next_poison_ = runs_ + kRunsAPoison;
    }
    for (int64_t i = 0; i < count; ++i) {
      if (i == count - 1) windows_.PoisonOneAsync();
      call_.Enqueue();
    }
    gpu_.Synchronize();
    if (call_.host()) gpu_.CheckPersistingL2();
    windows_.Check();
    runs_ += count;
  }

  const Gpu& gpu_;
  const Nvml& nvml_;
  const Call& call_;
  const OwnTensors& own_;
  Windows windows_;
  int64_t batch_ = 1, runs_ = 0, next_poison_ = 0;
};

}  // namespace

RunReply RunOnGpu(const Gpu& gpu, const LoadedProgram& program, const RunRequest& request) {
  const InputSet inputs(gpu, request.plan, request.folder);
  const OwnTensors own(gpu, request.plan);
  const Call call(gpu, program, request.plan, own.Find(inputs));
  const Stopwatch watch(gpu);
  if (program.host()) gpu.ResetPersistingL2();
  RunReply reply;
  std::vector<std::string> outputs;
  for (int i = 0; i < request.repeats; ++i) {
    own.PoisonAsync();
    watch.Start();
    call.Enqueue();
    watch.Stop();
    gpu.Synchronize();
    reply.device_us = watch.Microseconds();
    if (program.host()) gpu.CheckPersistingL2();
    own.CheckGuards();
    inputs.Check();
    std::vector<std::string> these = own.Download();
    if (i == 0) {
      outputs = std::move(these);
    } else {
      reply.deterministic = reply.deterministic && these == outputs;
    }
  }
  own.Write(outputs, kRunFolder);
  return reply;
}

EnergyReply EnergyOnGpu(const Gpu& gpu, const Nvml& nvml, const LoadedProgram& program,
                        const EnergyRequest& request, InputCache* cache) {
  bool fresh = false;
  const InputSet& inputs = *cache->Get(gpu, request.timed.plan, {request.input_folder}, &fresh)[0];
  const OwnTensors own(gpu, request.timed.plan);
  const Call call(gpu, program, request.timed.plan, own.Find(inputs));
  if (program.host()) gpu.ResetPersistingL2();
  EnergyLoop loop(gpu, nvml, call, own);
  loop.Calibrate();
  const std::optional<int64_t> before = loop.RunToTick(0);
  const int64_t runs_before = loop.runs();
  const std::optional<int64_t> after = loop.RunToTick(request.seconds);
  EnergyReply reply;
  reply.runs = loop.runs() - runs_before;
  if (before && after) {
    reply.joules_per_run = 1e-3 * static_cast<double>(*after - *before) /
                           static_cast<double>(std::max<int64_t>(reply.runs, 1));
  }
  own.CheckGuards();
  inputs.Check();
  return reply;
}

}  // namespace kb
