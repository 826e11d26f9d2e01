#include "tdd/sanitize.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>

#include "kb/file.h"
#include "tdd/scratch.h"

namespace kb {
namespace {

struct SanitizerTool {
  const char* name;
  std::vector<std::string> options;  // beside --tool
  const char* planted;
};

// memcheck sees a write past a buffer only if nothing lies there: hence the padding (on an H200 it
// said "0 errors" without). Our own calls of the driver may fail (we ask for one parameter more
// than a kernel has), and are no findings. initcheck needs a buffer that nobody wrote.
const std::array<SanitizerTool, 4> kTools = {{
    {"memcheck", {"--padding=256", "--report-api-errors", "no"}, R"(
extern "C" __global__ void planted(const int* in, int* work, int* out) {
  out[64 + threadIdx.x] = in[threadIdx.x];
})"},
    {"racecheck", {"--racecheck-report=all"}, R"(
extern "C" __global__ void planted(const int* in, int* work, int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
  out[threadIdx.x] = s[63 - threadIdx.x];
})"},
    {"initcheck", {"--track-unused-memory=no"}, R"(
extern "C" __global__ void planted(const int* in, int* work, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + work[threadIdx.x];
})"},
    {"synccheck", {"--print-limit=100"}, R"(
extern "C" __global__ void planted(const int* in, int* work, int* out) {
  if (threadIdx.x % 2 == 0) __syncthreads();
  out[threadIdx.x] = in[threadIdx.x];
})"},
}};

constexpr int kPlantedProgram = 1, kCandidateProgram = 2;

std::string PathSearch(const std::string& name) {
  const char* path = getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t colon = rest.find(':');
    std::string file = std::string(rest.substr(0, colon)) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  return "";
}

RunPlan PlantedPlan() {
  RunPlan plan;
  plan.buffers = {{BufferPlan::Role::kInput, "in", 256, false},
                  {BufferPlan::Role::kOutput, "out", 256, false},
                  {BufferPlan::Role::kWorkspace, "work", 256, false}};
  LaunchPlan launch;
  launch.kernel = "planted";
  launch.block = {64, 1, 1};
  launch.args = {{"in", "", ""}, {"work", "", ""}, {"out", "", ""}};
  plan.launches = {launch};
  return plan;
}

std::vector<std::string> Prefix(const std::string& sanitizer, const SanitizerTool& tool,
                                const std::string& log) {
  std::vector<std::string> words = {sanitizer, "--tool", tool.name};
  words.insert(words.end(), tool.options.begin(), tool.options.end());
  for (const char* word : {"--target-processes", "all", "--launch-timeout", "0", "--error-exitcode",
                           "86", "--log-file"}) {
    words.emplace_back(word);
  }
  words.push_back(std::filesystem::absolute(log).string());
  return words;
}

struct ToolResult {
  std::string name;
  SanitizerLog planted, candidate;
  Verdict verdict;
  double seconds = 0;
};

// What the planted faults of this process have shown: its tools and its GPU do not change.
class PlantedLogs {
 public:
  std::optional<SanitizerLog> Find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = logs_.find(key);
    return found == logs_.end() ? std::nullopt : std::optional(found->second);
  }
  void Keep(const std::string& key, const SanitizerLog& log) {
    const std::lock_guard lock(mutex_);
    logs_[key] = log;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, SanitizerLog> logs_;
};

// A worker of its own for each program: after a finding its context is not to be trusted. The
// tool's log is whole once the worker has ended.
Verdict RunUnder(const SanitizerTool& tool, const SanitizeOptions& options, const std::string& log,
                 const std::function<Verdict(Runner*)>& use) {
  Verdict why;
  const std::unique_ptr<Runner> runner =
      options.start(Prefix(options.tool, tool, log), {"KB_UNPOISONED=1"}, &why);
  return runner == nullptr ? why : use(runner.get());
}

std::string TextOf(const std::string& log) { return ReadFile(log, nullptr).value_or(""); }

// For who must find out why a tool is silent.
std::string FirstLine(std::string_view text) {
  if (text.empty()) return "its log is empty";
  const std::string_view line = text.substr(0, text.find('\n'));
  const SanitizerLog log = ReadSanitizerLog(text);
  return fmt::format("its log begins with \"{}\" and has {} summary{}",
                     Printable(line.substr(0, 200)), log.complete ? "a" : "no",
                     log.first.empty() ? "" : "; it says: " + log.first);
}

Verdict Silent(const SanitizerTool& tool, const std::string& sanitizer, const Verdict& run,
               const std::string& log) {
  const std::string ran = VerdictName(run) + (run.message.empty() ? "" : ": " + run.message);
  return {Status::kInfraError, "",
          fmt::format("{} did not report the fault that was planted for it, and its silence proves "
                      "nothing: {}; the kernel with the fault: {}; try `{} --version`, or run with "
                      "--no-sanitize",
                      tool.name, FirstLine(log), ran, sanitizer)};
}

Verdict Plant(const SanitizerTool& tool, const Toolchain& toolchain, const std::string& arch,
              const SanitizeOptions& options, ToolResult* result) {
  static PlantedLogs kept;
  const std::string key = fmt::format("{} {} {}", options.tool, tool.name, arch);
  if (const auto known = kept.Find(key)) {
    result->planted = *known;
    return {};
  }
  const Scratch scratch(options.temp);
  const CompileResult compiled = toolchain.Compile({tool.planted, "planted.cu", arch, {}});
  if (!compiled.ok)
    return {Status::kInfraError, "", "the planted fault does not compile: " + compiled.log};
  WriteFileAtomically(scratch.path() + "/in.in", std::string(256, '\1'));
  const std::string log = scratch.path() + "/log";
  Verdict run;
  Verdict verdict = RunUnder(tool, options, log, [&](Runner* runner) -> Verdict {
    Verdict loaded = runner->Load({kPlantedProgram, false, compiled.cubin});
    if (!loaded.passed()) return loaded;
    run =
        runner->Run({kPlantedProgram, PlantedPlan(), scratch.path(), 1, options.timeout_s}).verdict;
    return {};
  });
  const std::string text = TextOf(log);
  result->planted = ReadSanitizerLog(text);
  if (!verdict.passed()) return verdict;
  if (result->planted.errors == 0) return Silent(tool, options.tool, run, text);
  kept.Keep(key, result->planted);
  return {};
}

// Once a run has failed no other is tried: another worker would write over the tool's log.
OutputSource UntilItFails(const OutputSource& source) {
  return [source, failed = std::optional<RunReply>()](int workload,
                                                      const std::string& folder) mutable {
    if (failed) return *failed;
    RunReply reply = source(workload, folder);
    if (!reply.verdict.passed()) failed = reply;
    return reply;
  };
}

Verdict Examine(const SanitizerTool& tool, const Case& for_case, const std::string& judge,
                const Program& program, const std::vector<RunPlan>& plans,
                const SanitizeOptions& options, ToolResult* result) {
  const Scratch scratch(options.temp);
  const std::string log = scratch.path() + "/log";
  Program copy = program;
  copy.id = kCandidateProgram;
  SourceState state;
  const Verdict verdict = RunUnder(tool, options, log, [&](Runner* runner) -> Verdict {
    Verdict loaded = runner->Load(copy);
    if (!loaded.passed()) return loaded;
    const RunnerSource source{runner, copy.id, &for_case, &plans, 1, options.timeout_s};
    const TestReport report = RunTests(judge, for_case, UntilItFails(MakeSource(source, &state)),
                                       "", options.seed, false, options.timeout_s, options.temp);
    return report.verdict;
  });
  const std::string text = TextOf(log);
  result->candidate = ReadSanitizerLog(text);
  if (result->candidate.errors > 0) {
    return {Status::kSanitizerError, tool.name, result->candidate.first};
  }
  if (!verdict.passed()) {
    return {verdict.status == Status::kTimeoutRun ? Status::kTimeoutRun : Status::kSanitizerError,
            tool.name,
            fmt::format("under {}: {} {}", tool.name, VerdictName(verdict), verdict.message)};
  }
  if (result->candidate.complete) return {};
  return {Status::kInfraError, "",
          fmt::format("{} ended without a summary: {}", tool.name, FirstLine(text))};
}

Value ToValue(const ToolResult& result) {
  Value value;
  value.Set("name", result.name).Set("errors", result.candidate.errors);
  value.Set("planted_found", result.planted.errors > 0).Set("seconds", result.seconds);
  if (!result.candidate.first.empty()) value.Set("first", result.candidate.first);
  return value;
}

}  // namespace

std::string FindComputeSanitizer() {
  for (const std::string& folder : NvrtcFolders()) {
    if (folder.empty()) continue;
    for (const char* below : {"/bin/compute-sanitizer", "/compute-sanitizer/compute-sanitizer"}) {
      for (const std::string& file : {folder + below, folder + "/.." + below}) {
        if (access(file.c_str(), X_OK) == 0) return file;
      }
    }
  }
  return PathSearch("compute-sanitizer");
}

std::string_view PlantedFault(std::string_view tool) {
  for (const SanitizerTool& known : kTools) {
    if (tool == known.name) return known.planted;
  }
  return "";
}

// "========= ERROR SUMMARY: 3 errors" or "========= RACECHECK SUMMARY: 2 hazards displayed (1
// error, 1 warning)". The first line that is no header, backtrace or summary is the finding.
SanitizerLog ReadSanitizerLog(std::string_view text) {
  constexpr std::string_view kMark = "========= ";
  SanitizerLog log;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
    if (!line.starts_with(kMark)) continue;
    line.remove_prefix(kMark.size());
    if (const size_t summary = line.find("SUMMARY: "); summary != std::string_view::npos) {
      log.complete = true;
      log.errors += atoi(std::string(line.substr(summary + 9, 12)).c_str());
    } else if (log.first.empty() && !line.empty() && line[0] != ' ' &&
               !line.starts_with("COMPUTE-SANITIZER")) {
      log.first = Printable(line.substr(0, 300));
    }
  }
  return log;
}

StageReport ProveSanitized(const Case& for_case, const std::string& judge, const Program& program,
                           const std::vector<RunPlan>& plans, const Toolchain& toolchain,
                           const std::string& arch, const SanitizeOptions& options) {
  StageReport stage{"sanitize", {}, 0, {}};
  if (options.tool.empty()) {
    stage.verdict = {Status::kSkipped, "no compute-sanitizer",
                     "compute-sanitizer is not installed; the CUDA Toolkit brings it"};
    return stage;
  }
  std::vector<std::future<ToolResult>> running;
  for (const SanitizerTool& tool : kTools) {
    running.push_back(std::async(std::launch::async, [&, tool] {
      const auto start = std::chrono::steady_clock::now();
      ToolResult result;
      result.name = tool.name;
      result.verdict = Plant(tool, toolchain, arch, options, &result);
      if (result.verdict.passed()) {
        result.verdict = Examine(tool, for_case, judge, program, plans, options, &result);
      }
      result.seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return result;
    }));
  }
  Value tools = Value::List{};
  for (std::future<ToolResult>& one : running) {
    const ToolResult result = one.get();
    tools.Add(ToValue(result));
    if (stage.verdict.passed()) stage.verdict = result.verdict;
  }
  stage.detail.Set("tools", tools);
  return stage;
}

}  // namespace kb
