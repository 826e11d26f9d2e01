#include "tdd/runner.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <utility>

#include "kb/error.h"
#include "tdd/gpu_lock.h"
#include "tdd/sandbox.h"
#include "tdd/worker_messages.h"
#include "tdd/worker_process.h"
#include "tdd/worker_run.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kStartTimeoutS = 120;
constexpr double kPeaksTimeoutS = 120;
constexpr double kLockTimeoutS = 900;
constexpr double kClockSlackS = 0.5;  // between the worker's clock and ours

Verdict Infra(std::string message) { return {Status::kInfraError, "", std::move(message)}; }

Verdict VerdictOf(const Value& reply) { return *VerdictFromValue(reply["verdict"]); }

// The reply's own fields only if it passed: a fault has none.
template <typename Reply>
Reply Parsed(const Value& value, std::optional<Reply> (*from_value)(const Value&)) {
  Reply reply;
  reply.verdict = VerdictOf(value);
  if (!reply.verdict.passed()) return reply;
  std::optional<Reply> parsed = from_value(value);
  if (parsed) return std::move(*parsed);
  reply.verdict = Infra("the worker's answer has not the form of one");
  return reply;
}

double SumSeconds(const std::vector<double>& microseconds) {
  return 1e-6 * std::accumulate(microseconds.begin(), microseconds.end(), 0.0);
}

class WorkerRunner final : public Runner {
 public:
  WorkerRunner(WorkerOptions options, bool sandbox, std::unique_ptr<WorkerProcess> worker,
               Environment environment)
      : options_(std::move(options)),
        sandbox_(sandbox),
        environment_(std::move(environment)),
        device_(std::move(worker)) {}

  [[nodiscard]] const Environment& environment() const override { return environment_; }

  Verdict Load(const Program& program) override {
    Unload(program.id);
    programs_[program.id] = program;
    return With({program.id}, false, [](WorkerProcess&) { return Verdict(); });
  }

  void Unload(int program) override {
    if (device_ != nullptr) device_->Unload(program);
    if (host_program_ == program) host_.reset();
    programs_.erase(program);
  }

  RunReply Run(const RunRequest& request) override {
    const GpuLock lock = Lock(GpuUse::kShared);
    RunReply reply;
    const Verdict verdict = With({request.program}, false, [&](WorkerProcess& worker) {
      reply = Parsed(worker.Ask("run", ToValue(request), request.timeout_s, Blame::kCandidates),
                     RunReplyFromValue);
      return reply.verdict.passed() ? worker.TakeOutputs(request.plan, kRunFolder, request.folder)
                                    : reply.verdict;
    });
    reply.verdict = verdict;
    return reply;
  }

  MeasureReply Measure(const MeasureRequest& request) override {
    const GpuLock lock = Lock(GpuUse::kAlone);
    MeasureReply reply;
    if (!lock.held()) {
      reply.verdict = Busy();
      return reply;
    }
    const Verdict verdict = With(
        {request.baseline.program, request.candidate.program}, true, [&](WorkerProcess& worker) {
          const Clock::time_point start = Clock::now();
          reply =
              Parsed(worker.Ask("measure", ToValue(request), request.timeout_s, Blame::kCandidates),
                     MeasureReplyFromValue);
          const double own_s = std::chrono::duration<double>(Clock::now() - start).count();
          if (!reply.verdict.passed()) return reply.verdict;
          const Verdict clocks = CompareClocks(reply, own_s);
          return clocks.passed() ? TakeChecked(worker, request, &reply) : clocks;
        });
    reply.verdict = verdict;
    return reply;
  }

  EnergyReply Energy(const EnergyRequest& request) override {
    const GpuLock lock = Lock(GpuUse::kAlone);
    EnergyReply reply;
    if (!lock.held()) {
      reply.verdict = Busy();
      return reply;
    }
    const double timeout_s = 4 * request.seconds + 60;
    const Verdict verdict = With({request.timed.program}, true, [&](WorkerProcess& worker) {
      const Clock::time_point start = Clock::now();
      reply = Parsed(worker.Ask("energy", ToValue(request), timeout_s, Blame::kCandidates),
                     EnergyReplyFromValue);
      reply.waited_s = std::chrono::duration<double>(Clock::now() - start).count();
      return reply.verdict;
    });
    reply.verdict = verdict;
    return reply;
  }

  PeaksReply MeasurePeaks() override {
    const GpuLock lock = Lock(GpuUse::kAlone);
    PeaksReply reply;
    if (!lock.held()) {
      reply.verdict = Busy();
      return reply;
    }
    const Verdict verdict = With({}, false, [&](WorkerProcess& worker) {
      reply =
          Parsed(worker.Ask("peaks", Value(), kPeaksTimeoutS, Blame::kOurs), PeaksReplyFromValue);
      return reply.verdict;
    });
    reply.verdict = verdict;
    return reply;
  }

 private:
  // Nobody else shares an emulated GPU.
  [[nodiscard]] GpuLock Lock(GpuUse use) const {
    return GpuLock(environment_.emulated ? "" : environment_.gpu_uuid, use, kLockTimeoutS);
  }

  [[nodiscard]] static Verdict Busy() {
    return Infra("another kb has been timing on this GPU for 15 minutes; try again when it ends");
  }

  // Does `use` with a worker in which the programs are loaded. A worker of a host candidate serves
  // it alone, and timings always get a fresh one, so that nothing that it left behind is timed.
  template <typename Use>
  Verdict With(const std::vector<int>& ids, bool timing, const Use& use) {
    try {
      bool host = false;
      for (const int id : ids) {
        const auto found = programs_.find(id);
        if (found == programs_.end()) return Infra("no program " + std::to_string(id));
        host = host || found->second.host;
      }
      WorkerProcess& worker = host ? HostWorker(ids, timing) : DeviceWorker();
      for (const int id : ids) {
        Verdict loaded = worker.Load(programs_.at(id));
        if (!loaded.passed()) return loaded;
      }
      Verdict verdict = use(worker);
      if (host && timing) host_.reset();
      return verdict;
    } catch (const Error& error) {
      return Infra(error.what());
    }
  }

  // A tool in front of the worker has one log: of two workers the one would write over the other's.
  [[nodiscard]] bool OneAtATime() const { return !options_.prefix.empty(); }

  WorkerProcess& DeviceWorker() {
    if (device_ == nullptr || device_->dead()) {
      if (OneAtATime()) host_.reset();
      device_.reset();
      device_ = std::make_unique<WorkerProcess>(options_, sandbox_, false);
    }
    return *device_;
  }

  WorkerProcess& HostWorker(const std::vector<int>& ids, bool timing) {
    if (host_ == nullptr || host_->dead() || timing || host_program_ != ids[0]) {
      if (OneAtATime()) device_.reset();
      host_.reset();
      host_ = std::make_unique<WorkerProcess>(options_, sandbox_, true);
      host_program_ = ids[0];
    }
    return *host_;
  }

  // What was timed fits into the time that passed here.
  [[nodiscard]] static Verdict CompareClocks(const MeasureReply& reply, double own_s) {
    const double timed_s = SumSeconds(reply.baseline_us) + SumSeconds(reply.candidate_us);
    if (reply.wall_s <= own_s + kClockSlackS && timed_s <= own_s + kClockSlackS) return {};
    return {Status::kRewardHack, "timer",
            "the worker says that it timed " + std::to_string(timed_s) + " s in " +
                std::to_string(reply.wall_s) + " s, but " + std::to_string(own_s) + " s passed"};
  }

  [[nodiscard]] static Verdict TakeChecked(WorkerProcess& worker, const MeasureRequest& request,
                                           MeasureReply* reply) {
    for (size_t i = 0; i < reply->checked.size(); ++i) {
      const std::string to = request.check_folder + "/" + std::to_string(i);
      Verdict taken = worker.TakeOutputs(request.candidate.plan, reply->checked[i].folder, to);
      if (!taken.passed()) return taken;
      reply->checked[i].folder = to;
    }
    return {};
  }

  WorkerOptions options_;
  bool sandbox_;
  Environment environment_;
  std::map<int, Program> programs_;
  std::unique_ptr<WorkerProcess> device_, host_;
  int host_program_ = 0;
};

// Null with `*why` if there is no GPU or the worker does not start so.
std::unique_ptr<Runner> TryStart(const WorkerOptions& options, bool sandbox, Verdict* why) {
  try {
    auto worker = std::make_unique<WorkerProcess>(options, sandbox, false);
    const Value reply = worker->Ask("environment", Value(), kStartTimeoutS, Blame::kOurs);
    *why = VerdictOf(reply);
    if (!why->passed()) return nullptr;
    std::optional<Environment> environment = EnvironmentFromValue(reply["environment"]);
    if (environment) {
      environment->sandbox = sandbox ? BestSandbox().name : "none";
      return std::make_unique<WorkerRunner>(options, sandbox, std::move(worker),
                                            std::move(*environment));
    }
    *why = Infra("the worker's environment has not the form of one");
  } catch (const Error& error) {
    *why = Infra(error.what());
  }
  return nullptr;
}

}  // namespace

// Where the driver does not start in the sandbox it is tried without. Tools in front of the worker
// (compute-sanitizer) get none: they trace, and write their logs elsewhere.
std::unique_ptr<Runner> StartWorker(const WorkerOptions& options, Verdict* why) {
  if (options.prefix.empty() && BestSandbox().namespaces != 0) {
    if (auto runner = TryStart(options, true, why)) return runner;
  }
  return TryStart(options, false, why);
}

}  // namespace kb
