#include <fcntl.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "kb/json.h"
#include "tdd/nvml.h"
#include "tdd/process.h"
#include "tdd/runner.h"
#include "tdd/worker_gpu.h"
#include "tdd/worker_messages.h"
#include "tdd/worker_program.h"
#include "tdd/worker_run.h"

namespace kb {
namespace {

constexpr double kForeverS = 1e6;

Value BadRequest(const std::string& what) {
  return Value(Value::Map{{"verdict", ToValue(Verdict{Status::kInfraError, "",
                                                      "the worker does not understand " + what})}});
}

Value Passed() { return Value(Value::Map{{"verdict", ToValue(Verdict{})}}); }

// Answers requests one by one. The GPU is opened by the first that needs it.
class Session {
 public:
  explicit Session(std::string driver) : driver_(std::move(driver)) {}

  Value Answer(const std::string& line) {
    const std::optional<Value> request = ParseJson(line);
    if (!request) return BadRequest("a line that is no JSON");
    for (const Operation& operation : kOperations) {
      if ((*request)["op"].AsString() == operation.name) return Guarded(operation, *request);
    }
    return BadRequest("the operation");
  }

 private:
  struct Operation {
    const char* name;
    Value (Session::*run)(const Value& request);
  };
  static const std::array<Operation, 7> kOperations;

  Value Guarded(const Operation& operation, const Value& request) {
    try {
      return (this->*operation.run)(request);
    } catch (const WorkerFault& fault) {
      return Value(Value::Map{{"verdict", ToValue(fault.verdict())}, {"fatal", fault.fatal()}});
    } catch (const std::exception& error) {
      const Verdict verdict{Status::kInfraError, "", error.what()};
      return Value(Value::Map{{"verdict", ToValue(verdict)}, {"fatal", true}});
    }
  }

  const Gpu& OpenGpu() {
    if (gpu_ == nullptr) {
      gpu_ = std::make_unique<Gpu>(driver_);
      nvml_ = std::make_unique<Nvml>(gpu_->environment().gpu_uuid, driver_);
    }
    return *gpu_;
  }

  const LoadedProgram& Program(int id) const {
    const auto found = programs_.find(id);
    if (found != programs_.end()) return *found->second;
    throw WorkerFault(
        {Status::kInfraError, "", "program " + std::to_string(id) + " is not loaded"});
  }

  Value ReadEnvironment(const Value&) {
    Environment environment = OpenGpu().environment();
    environment.driver = nvml_->driver_version();
    Value reply = Passed();
    reply.Set("environment", environment.ToValue());
    return reply;
  }

  Value Load(const Value& request) {
    const auto load = LoadFromValue(request);
    if (!load) return BadRequest("what to load");
    programs_.erase(load->id);
    programs_[load->id] = std::make_unique<LoadedProgram>(OpenGpu(), load->host, "./" + load->file);
    return Passed();
  }

  Value Unload(const Value& request) {
    programs_.erase(static_cast<int>(request["id"].AsInt()));
    return Passed();
  }

  Value Run(const Value& value) {
    const auto request = RunRequestFromValue(value);
    if (!request) return BadRequest("what to run");
    return ToValue(RunOnGpu(OpenGpu(), Program(request->program), *request));
  }

  Value Measure(const Value& value) {
    const auto request = MeasureRequestFromValue(value);
    if (!request) return BadRequest("what to measure");
    return ToValue(MeasureOnGpu(OpenGpu(), *nvml_, Program(request->baseline.program),
                                Program(request->candidate.program), *request, &inputs_));
  }

  Value Energy(const Value& value) {
    const auto request = EnergyRequestFromValue(value);
    if (!request) return BadRequest("what to run for its energy");
    return ToValue(
        EnergyOnGpu(OpenGpu(), *nvml_, Program(request->timed.program), *request, &inputs_));
  }

  Value MeasurePeaks(const Value&) { return ToValue(PeaksOfGpu(OpenGpu())); }

  std::string driver_;
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Nvml> nvml_;
  InputCache inputs_;
  std::map<int, std::unique_ptr<LoadedProgram>> programs_;
};

const std::array<Session::Operation, 7> Session::kOperations = {{
    {"environment", &Session::ReadEnvironment},
    {"load", &Session::Load},
    {"unload", &Session::Unload},
    {"run", &Session::Run},
    {"measure", &Session::Measure},
    {"energy", &Session::Energy},
    {"peaks", &Session::MeasurePeaks},
}};

}  // namespace

int ServeWorker(int fd, const std::string& driver) {
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  Channel channel(fd);
  Session session(driver);
  std::string line;
  while (channel.Receive(&line, kForeverS)) {
    if (!channel.Send(WriteJson(session.Answer(line)))) return 1;
  }
  return 0;
}

}  // namespace kb
