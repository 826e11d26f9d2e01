// Interleaved timing of two programs. A call is queued as a whole behind a stream that is held, so
// that no launch gap is timed; what comes before its first event (poison, flush, an untimed call)
// is the same for both.
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tdd/worker_hold.h"
#include "tdd/worker_run.h"
#include "tdd/worker_tensors.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWarmUpS = 0.3, kShortWarmUpS = 0.03;
constexpr double kShareOfTimeout = 0.7;  // then the rounds end, so that what there is comes back
constexpr size_t kMostHeld = 200;  // a stream takes about a thousand entries before it blocks us
constexpr int64_t kLeastFlushBytes = 1 << 20;
// Work that goes on after the last event has been passed is work on another stream.
constexpr double kStreamLagUs = 30, kStreamLagShare = 0.1;
// What the host's clock may see beyond the events of a host candidate: launches, allocations.
constexpr double kTimerSlackUs = 1000, kTimerSlackShare = 1;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto index = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<size_t>(index)];
}

double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }
double LowerQuartile(const std::vector<double>& values) { return Quantile(values, 0.25); }

// One of the two programs, with a call for each set of inputs.
struct Side {
  Side(const Gpu& gpu, const LoadedProgram& program, const RunPlan& plan,
       const std::vector<const InputSet*>& inputs)
      : own(gpu, plan) {
    for (const InputSet* set : inputs) calls.emplace_back(gpu, program, plan, own.Find(*set));
  }
  OwnTensors own;
  std::deque<Call> calls;
  std::vector<double> device_us, lag_us, drift_us;  // of the timed calls
};

class Measurer {
 public:
  Measurer(const Gpu& gpu, const Nvml& nvml, const LoadedProgram& baseline,
           const LoadedProgram& candidate, const MeasureRequest& request, InputCache* cache);
  MeasureReply Run();

 private:
  void CheckSameInputs() const;
  [[nodiscard]] double UsualLag() const;
  void WarmUp();
  void Queue(const Side& side, size_t set) const;
  void Time(Side* side, size_t set);
  void Prepare(const Side& side, size_t set) const;
  void Keep(int round, size_t set, MeasureReply* reply) const;
  void JudgeHost(const Side& side, const char* who) const;
  [[nodiscard]] bool MayHold() const;
  [[nodiscard]] Value Conditions(const Value& before) const;

  const Gpu& gpu_;
  const Nvml& nvml_;
  const MeasureRequest& request_;
  std::vector<const InputSet*> inputs_;
  bool fresh_ = false;  // inputs were loaded for this request: the GPU was idle meanwhile
  std::optional<Side> baseline_, candidate_;
  int64_t flush_bytes_;
  DeviceMemory flush_;
  Stopwatch watch_;  // what is reported
  Stopwatch inner_;  // host kind: the given stream alone
  Hold hold_;
  bool host_ = false;  // one of the two is of host kind: both are timed in its way
  bool held_ = false;
  double usual_lag_us_ = 0;  // between the two watches, where nothing is hidden
};

Measurer::Measurer(const Gpu& gpu, const Nvml& nvml, const LoadedProgram& baseline,
                   const LoadedProgram& candidate, const MeasureRequest& request, InputCache* cache)
    : gpu_(gpu),
      nvml_(nvml),
      request_(request),
      flush_bytes_(std::max(2 * gpu.environment().l2_bytes, kLeastFlushBytes)),
      flush_(gpu, flush_bytes_, "the flush of L2"),
      watch_(gpu),
      inner_(gpu),
      hold_(gpu),
      host_(baseline.host() || candidate.host()) {
  CheckSameInputs();
  inputs_ = cache->Get(gpu, request.candidate.plan, request.input_folders, &fresh_);
  baseline_.emplace(gpu, baseline, request.baseline.plan, inputs_);
  candidate_.emplace(gpu, candidate, request.candidate.plan, inputs_);
}

// A host candidate may wait for the stream itself, and would wait for ever.
bool Measurer::MayHold() const {
  return hold_.works() && !host_ && baseline_->calls[0].size() <= kMostHeld &&
         candidate_->calls[0].size() <= kMostHeld;
}

void Measurer::CheckSameInputs() const {
  const auto inputs = [](const RunPlan& plan) {
    std::vector<std::pair<std::string, int64_t>> found;
    for (const BufferPlan& buffer : plan.buffers) {
      if (buffer.role == BufferPlan::Role::kInput) found.emplace_back(buffer.name, buffer.bytes);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  if (inputs(request_.baseline.plan) == inputs(request_.candidate.plan)) return;
  throw WorkerFault(
      {Status::kInfraError, "", "baseline and candidate have plans with different inputs"});
}

void Measurer::Prepare(const Side& side, size_t set) const {
  if (!request_.cold_l2) {
    side.calls[set].Enqueue();
    side.own.PoisonAsync();
    return;
  }
  side.own.PoisonAsync();
  gpu_.Check(gpu_.driver().MemsetD8Async(flush_.pointer(), 0, static_cast<size_t>(flush_bytes_),
                                         gpu_.stream()),
             "overwrite L2");
}

// Queues what is timed. A host candidate may put work on other streams: all are waited for before
// the last event, for both sides alike, so that such work is counted; and before the first one,
// because work elsewhere would else be done during our own flush (seen: 9 us reported for 64).
void Measurer::Queue(const Side& side, size_t set) const {
  Prepare(side, set);
  if (host_) gpu_.Synchronize();
  watch_.Start();
  if (host_) inner_.Start();
  side.calls[set].Enqueue();
  if (host_) {
    inner_.Stop();
    gpu_.Synchronize();
  }
  watch_.Stop();
}

void Measurer::Time(Side* side, size_t set) {
  const Clock::time_point start = Clock::now();
  if (held_) hold_.Close();
  try {
    Queue(*side, set);
  } catch (...) {
    if (held_) hold_.Open();
    throw;
  }
  if (held_) hold_.Open();
  gpu_.Synchronize();
  const double wall_us = MicrosecondsSince(start);
  side->device_us.push_back(watch_.Microseconds());
  if (!host_) return;
  gpu_.CheckPersistingL2();
  side->lag_us.push_back(side->device_us.back() - inner_.Microseconds());
  side->drift_us.push_back(wall_us - side->device_us.back());
}

// Between the two watches with nothing to hide: the time of a wait for an idle GPU.
double Measurer::UsualLag() const {
  std::vector<double> lags;
  for (int i = 0; i < 20; ++i) {
    watch_.Start();
    inner_.Start();
    inner_.Stop();
    gpu_.Synchronize();
    watch_.Stop();
    gpu_.Synchronize();
    lags.push_back(watch_.Microseconds() - inner_.Microseconds());
  }
  return Median(lags);
}

// Clocks rise and code is loaded. The first calls are not held: loading may wait for the stream.
void Measurer::WarmUp() {
  gpu_.ResetPersistingL2();
  usual_lag_us_ = UsualLag();
  const Clock::time_point start = Clock::now();
  for (size_t i = 0;
       i < 3 || (i < 1000 && MicrosecondsSince(start) < 1e6 * (fresh_ ? kWarmUpS : kShortWarmUpS));
       ++i) {
    Time(&*baseline_, i % inputs_.size());
    Time(&*candidate_, i % inputs_.size());
    held_ = MayHold();
  }
  for (auto* side : {&*baseline_, &*candidate_}) {
    side->device_us.clear();
    side->lag_us.clear();
    side->drift_us.clear();
  }
}

void Measurer::Keep(int round, size_t set, MeasureReply* reply) const {
  const std::vector<int>& rounds = request_.checked_rounds;
  if (std::find(rounds.begin(), rounds.end(), round) == rounds.end()) return;
  const std::string folder = CheckFolder(reply->checked.size());
  candidate_->own.Write(candidate_->own.Download(), folder);
  reply->checked.push_back({round, static_cast<int>(set), folder});
}

// Events that a host candidate has bent, or work that it has put where they do not see it. The
// lower quartile: a busy host delays some calls, hidden work is there in most.
void Measurer::JudgeHost(const Side& side, const char* who) const {
  if (!side.calls[0].host() || side.lag_us.empty()) return;
  const double device_us = Median(side.device_us);
  const double lag_us = LowerQuartile(side.lag_us) - usual_lag_us_;
  if (!(lag_us <= kStreamLagUs + kStreamLagShare * device_us)) {
    throw WorkerFault({Status::kRewardHack, "stream",
                       "the GPU works on for " + std::to_string(lag_us) + " us when the " + who +
                           "'s stream has ended: all work belongs on the stream that it is given"});
  }
  const double drift_us = LowerQuartile(side.drift_us);
  if (!(drift_us <= kTimerSlackUs + kTimerSlackShare * device_us && drift_us >= -kStreamLagUs)) {
    throw WorkerFault({Status::kRewardHack, "timer",
                       "the " + std::string(who) + " takes " + std::to_string(device_us) +
                           " us by events and " + std::to_string(device_us + drift_us) +
                           " us by the host's clock"});
  }
}

Value Measurer::Conditions(const Value& before) const {
  return Value(Value::Map{
      {"l2", request_.cold_l2 ? "cold" : "warm"},
      {"flush_bytes", request_.cold_l2 ? flush_bytes_ : 0},
      {"held", held_},
      {"clock", host_ ? "CUDA events, all streams waited for before the last" : "CUDA events"},
      {"before", before},
      {"after", nvml_.Conditions()}});
}

MeasureReply Measurer::Run() {
  MeasureReply reply;
  WarmUp();
  const Value before = nvml_.Conditions();
  gpu_.ResetPersistingL2();
  const Clock::time_point start = Clock::now();
  size_t next = 0;
  for (int round = 0; round < request_.rounds; ++round) {
    if (MicrosecondsSince(start) > 1e6 * kShareOfTimeout * request_.timeout_s) break;
    const size_t first = next++ % inputs_.size(), second = next++ % inputs_.size();
    Time(&*baseline_, first);
    Time(&*candidate_, first);
    Keep(round, first, &reply);
    Time(&*candidate_, second);
    Time(&*baseline_, second);
    reply.throttled.push_back(nvml_.Throttled());
  }
  reply.wall_s = 1e-6 * MicrosecondsSince(start);
  reply.conditions = Conditions(before);
  inputs_[std::random_device{}() % inputs_.size()]->Check();  // all, in the course of the batches
  baseline_->own.CheckGuards();
  candidate_->own.CheckGuards();
  JudgeHost(*baseline_, "baseline");
  JudgeHost(*candidate_, "candidate");
  reply.baseline_us = baseline_->device_us;
  reply.candidate_us = candidate_->device_us;
  return reply;
}

}  // namespace

std::string CheckFolder(size_t index) { return "check." + std::to_string(index); }

MeasureReply MeasureOnGpu(const Gpu& gpu, const Nvml& nvml, const LoadedProgram& baseline,
                          const LoadedProgram& candidate, const MeasureRequest& request,
                          InputCache* cache) {
  return Measurer(gpu, nvml, baseline, candidate, request, cache).Run();
}

}  // namespace kb
