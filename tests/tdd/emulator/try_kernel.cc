// try_kernel CASE_FOLDER CANDIDATE...: compiles candidates for the CPU, runs the case's tests
// against them and prints the report. A candidate is a folder, or an id below candidates/; without
// one, all of the case. What it says is a hint for authors, never evidence.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kb/file.h"
#include "tdd/candidate.h"
#include "tdd/case.h"
#include "tdd/judge.h"
#include "tests/tdd/emulator/emulated_run.h"
#include "tests/tdd/emulator/emulated_toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

void Print(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    std::printf("  %s:%d: %s: %s (%s)\n", d.path.c_str(), d.line, SeverityName(d.severity),
                d.message.c_str(), d.mend.c_str());
  }
}

// Answers the judge: the candidate's outputs for check workload `index`.
RunReply RunWorkload(const Case& of_case, const Candidate& candidate, const std::string& cubin,
                     int index, const std::string& folder) {
  const Workload& workload = of_case.check.at(static_cast<size_t>(index));
  Planned planned = PlanRun(of_case, candidate, workload.axes);
  if (!planned.plan) return {{Status::kLaunchError, "", planned.why}};
  BufferBytes inputs;
  for (const BufferPlan& buffer : planned.plan->buffers) {
    if (buffer.role != BufferPlan::Role::kInput) continue;
    std::string why;
    auto bytes = ReadFile(folder + "/in." + buffer.name, &why, int64_t{4} << 30);
    if (!bytes) return {{Status::kInfraError, "", why}};
    inputs[buffer.name] = std::move(*bytes);
  }
  EmulatedRun run = RunOnEmulator(KB_FAKE_CUDA, cubin, *planned.plan, inputs);
  if (run.result != 0) {
    std::printf("  %s: %s\n", workload.label.c_str(), run.error.c_str());
    return {{Status::kRuntimeError, "", run.error}};
  }
  for (const BufferPlan& buffer : planned.plan->buffers) {
    if (buffer.role != BufferPlan::Role::kOutput) continue;
    std::ofstream(folder + "/out." + buffer.name, std::ios::binary) << run.outputs[buffer.name];
  }
  return {};
}

void Print(const TestReport& report) {
  for (const TestOutcome& test : report.tests) {
    std::printf("  %-4s %s\n", test.passed ? "ok" : "FAIL", test.name.c_str());
    if (!test.passed) std::printf("%s\n", test.message.c_str());
  }
  for (const Comparison& c : report.comparisons) {
    if (c.matched == 1 && c.nonfinite == 0) continue;
    std::printf("  %s %s: %.4f matched, worst at %lld: got %.9g, want %.9g\n", c.workload.c_str(),
                c.output.c_str(), c.matched, static_cast<long long>(c.worst), c.got, c.want);
  }
}

// Whether the real compiler takes it too, where there is one.
void TryNvrtc(const Candidate& candidate) {
  std::string why;
  auto nvrtc = OpenNvrtc(&why);
  if (nvrtc == nullptr) return;
  CompileResult compiled =
      nvrtc->Compile({candidate.source_text, candidate.source, "sm_90a", candidate.flags});
  std::printf("  %s: %s\n%s", nvrtc->version().c_str(),
              compiled.ok ? "compiles" : "does not compile",
              compiled.ok ? "" : compiled.log.c_str());
}

bool TryOne(const Case& of_case, const std::string& judge, const std::string& folder) {
  std::printf("%s\n", folder.c_str());
  LoadedCandidate candidate = LoadCandidate(folder, of_case);
  Print(candidate.diagnostics);
  if (!candidate.ok()) return false;
  TryNvrtc(candidate.value);
  if (candidate.value.kind != CandidateKind::kDevice) {
    std::printf("  skipped: the emulator runs candidates of kind device alone\n");
    return true;
  }
  CompileResult compiled = EmulatedToolchain().Compile(
      {candidate.value.source_text, candidate.value.source, "sm_90a", candidate.value.flags});
  if (!compiled.ok) {
    std::printf("  not emulated: %s\n", compiled.log.c_str());
    return false;
  }
  TestReport report = RunTests(
      judge, of_case,
      [&](int workload, const std::string& run_folder) {
        return RunWorkload(of_case, candidate.value, compiled.cubin, workload, run_folder);
      },
      "", 1, false, 600, "");
  Print(report);
  std::printf("  %s %s (%d runs in %.1f s)\n", VerdictName(report.verdict).c_str(),
              report.verdict.message.c_str(), report.runs, report.wall_s);
  return report.verdict.passed();
}

std::vector<std::string> Folders(const Case& of_case, int count, char** words) {
  std::vector<std::string> folders;
  const std::string own = of_case.folder + "/candidates";
  for (int i = 0; i < count; ++i) {
    folders.push_back(fs::exists(own + "/" + words[i]) ? own + "/" + words[i] : words[i]);
  }
  if (count > 0) return folders;
  for (const auto& entry : fs::directory_iterator(own)) folders.push_back(entry.path().string());
  std::sort(folders.begin(), folders.end());
  return folders;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "try_kernel CASE_FOLDER [CANDIDATE...]\n");
    return 2;
  }
  LoadedCase of_case = LoadCase(argv[1]);
  Print(of_case.diagnostics);
  if (!of_case.ok()) return 1;
  const fs::path judges = fs::temp_directory_path() / ("kb-try-" + std::to_string(getuid()));
  fs::create_directories(judges);
  BuiltJudge judge = BuildJudge(of_case.value, judges.string());
  if (!judge.verdict.passed()) {
    std::printf("%s: %s\n", VerdictName(judge.verdict).c_str(), judge.verdict.message.c_str());
    return 1;
  }
  bool all = true;
  for (const std::string& folder : Folders(of_case.value, argc - 2, argv + 2)) {
    all = TryOne(of_case.value, judge.path, folder) && all;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace kb

int main(int argc, char** argv) { return kb::Main(argc, argv); }
