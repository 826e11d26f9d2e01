#include "tdd/worker_process.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "tdd/worker_messages.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLongestLifeS = 86400;
constexpr double kLoadTimeoutS = 60;
constexpr double kPatienceS = 3;       // with a worker that does not answer in our words
constexpr double kToolPatienceS = 20;  // with a tool in front of it that writes its log
constexpr int64_t kLargestOutput = int64_t{1} << 40;
constexpr int kMostProcesses = 64;  // of a host candidate
constexpr size_t kMaxTalk = 300;

// What the driver and cuBLAS need to be found and to choose a GPU. Nothing of the user's else.
constexpr const char* kPassedOn[] = {
    "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",    "CUDA_DEVICE_ORDER",     "CUDA_HOME",
    "CUDA_PATH",       "CUDA_MPS_PIPE_DIRECTORY", "NVIDIA_VISIBLE_DEVICES"};

std::vector<std::string> EnvironmentOf(const WorkerOptions& options, const std::string& folder) {
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + folder,
                                          "TMPDIR=" + folder, "CUDA_MODULE_LOADING=EAGER",
                                          "CUDA_CACHE_DISABLE=1"};
  for (const char* name : kPassedOn) {
    const char* value = std::getenv(name);
    if (value != nullptr) environment.push_back(std::string(name) + "=" + value);
  }
  if (!options.poison) environment.emplace_back("KB_UNPOISONED=1");
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  return environment;
}

// The worker works in another folder.
std::string Absolute(const std::string& path) {
  return path.find('/') == std::string::npos ? path : fs::absolute(path).string();
}

ProcessOptions OptionsFor(const WorkerOptions& options, bool sandbox, bool host,
                          const std::string& folder, int channel) {
  ProcessOptions process;
  process.argv = options.prefix;
  for (const std::string& word :
       {Absolute(options.kb), std::string("worker"), std::string("--fd"), std::string("3")}) {
    process.argv.push_back(word);
  }
  if (!options.driver.empty()) {
    process.argv.emplace_back("--driver");
    process.argv.push_back(Absolute(options.driver));
  }
  process.argv[0] = Absolute(process.argv[0]);
  process.environment = EnvironmentOf(options, folder);
  process.folder = folder;
  process.timeout_s = kLongestLifeS;
  process.file_bytes = kLargestOutput;
  process.max_processes = host ? kMostProcesses : 0;
  process.sandbox = sandbox;
  process.channel = channel;
  return process;
}

std::string HowItEnded(const ProcessResult& result) {
  std::string text;
  if (result.too_much_output) {
    text = "wrote more than it may";
  } else if (result.too_many_processes) {
    text = "started more processes than it may";
  } else if (result.exit_code > 128) {
    const char* name = strsignal(result.exit_code - 128);
    text = "was ended by signal " + std::to_string(result.exit_code - 128) + " (" +
           (name == nullptr ? "?" : name) + ")";
  } else {
    text = "ended with code " + std::to_string(result.exit_code);
  }
  std::string_view talk = result.talk;
  if (talk.size() > kMaxTalk) talk.remove_prefix(talk.size() - kMaxTalk);
  return talk.empty() ? text : text + ", and wrote: " + Printable(talk);
}

bool IsWholeFile(const std::string& path, int64_t bytes) {
  struct stat stat = {};
  return lstat(path.c_str(), &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size == bytes;
}

bool Move(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (!error) return true;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  return !error;
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerOptions& options, bool sandbox, bool host)
    : prefixed_(!options.prefix.empty()), host_(host), channel_(MakeChannel()) {
  try {
    process_ = std::make_unique<Process>(
        OptionsFor(options, sandbox, host, scratch_.path(), channel_.theirs));
  } catch (...) {
    close(channel_.theirs);
    throw;
  }
  close(channel_.theirs);
}

WorkerProcess::~WorkerProcess() {
  if (prefixed_ && process_->running()) HangUp(kToolPatienceS);
}

// The worker ends when it reads the end of its channel, and a tool in front of it then.
void WorkerProcess::HangUp(double patience_s) {
  channel_.ours.HangUp();
  if (!process_->EndsWithin(patience_s)) process_->Kill();
}

Value WorkerProcess::Ask(const char* operation, const Value& request, double timeout_s,
                         Blame blame) {
  const Clock::time_point start = Clock::now();
  Value message{Value::Map{{"op", operation}}};
  for (const auto& [key, value] : request.AsMap()) message.Set(key, value);
  std::string line;
  if (!dead_ && channel_.ours.Send(WriteJson(message)) && channel_.ours.Receive(&line, timeout_s)) {
    std::optional<Value> reply = ParseJson(line);
    if (reply && VerdictFromValue((*reply)["verdict"])) {
      dead_ = (*reply)["fatal"].AsBool();
      return std::move(*reply);
    }
  }
  const double waited_s = std::chrono::duration<double>(Clock::now() - start).count();
  return Lost(operation, timeout_s, waited_s >= timeout_s, blame);
}

Value WorkerProcess::Lost(const char* operation, double timeout_s, bool timed_out, Blame blame) {
  dead_ = true;
  if (timed_out) {
    process_->Kill();
  } else {
    HangUp(prefixed_ ? kToolPatienceS : kPatienceS);
  }
  const ProcessResult result = process_->Wait();
  Verdict verdict;
  if (timed_out) {
    verdict.status = blame == Blame::kCandidates ? Status::kTimeoutRun : Status::kInfraError;
    verdict.message = std::string("no answer to ") + operation + " within " +
                      std::to_string(timeout_s) + " s: " +
                      (blame == Blame::kCandidates ? "the kernels hang or are far too slow"
                                                   : "the GPU or its driver hangs");
  } else {
    verdict.status = blame == Blame::kCandidates ? Status::kRuntimeError : Status::kInfraError;
    verdict.message =
        std::string("the worker process ") + HowItEnded(result) + ", during " + operation;
  }
  return Value(Value::Map{{"verdict", ToValue(verdict)}});
}

Verdict WorkerProcess::Load(const Program& program) {
  if (loaded_.count(program.id) > 0) return {};
  LoadMessage load{program.id, program.host, "program." + std::to_string(program.id)};
  std::ofstream file(scratch_.path() + "/" + load.file, std::ios::binary | std::ios::trunc);
  file.write(program.binary.data(), static_cast<std::streamsize>(program.binary.size()));
  file.close();
  if (!file) {
    return {Status::kInfraError, "", "cannot write " + scratch_.path() + "/" + load.file};
  }
  const Value reply =
      Ask("load", ToValue(load), kLoadTimeoutS, program.host ? Blame::kCandidates : Blame::kOurs);
  Verdict verdict = *VerdictFromValue(reply["verdict"]);
  if (verdict.passed()) loaded_.insert(program.id);
  return verdict;
}

void WorkerProcess::Unload(int program) {
  if (dead_ || loaded_.erase(program) == 0) return;
  static_cast<void>(Ask("unload", Value(Value::Map{{"id", program}}), kLoadTimeoutS, Blame::kOurs));
  std::error_code ignored;
  fs::remove(scratch_.path() + "/program." + std::to_string(program), ignored);
}

Verdict WorkerProcess::TakeOutputs(const RunPlan& plan, const std::string& from,
                                   const std::string& to) {
  std::error_code ignored;
  fs::create_directories(to, ignored);
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.role != BufferPlan::Role::kOutput) continue;
    const std::string file = "/out." + buffer.name;
    std::string source = scratch_.path();
    source.append("/").append(from).append(file);
    const bool whole = IsWholeFile(source, buffer.bytes);
    if (whole && Move(source, to + file)) continue;
    dead_ = true;
    if (host_ && !whole) {
      std::string message =
          "the process of the candidate says that it passed, and has left no output ";
      message.append(buffer.name).append(": the worker would have");
      return {Status::kRewardHack, "forged-reply", std::move(message)};
    }
    std::string message = "the worker left no ";
    message.append(source).append(" to move to ").append(to);
    return {Status::kInfraError, "", std::move(message)};
  }
  return {};
}

}  // namespace kb
