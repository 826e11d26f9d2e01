// The second half of the red stage: faults in the candidate's own source.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "tdd/compile.h"
#include "tdd/compile_batch.h"
#include "tdd/compile_child.h"
#include "tdd/cubin.h"
#include "tdd/green.h"
#include "tdd/red.h"
#include "tdd/red_verdict.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Planted {
  Mutant mutant;
  std::string cubin;
  MutantResult result;
};

// How long the candidate itself took: mutants get a multiple.
struct Deadlines {
  double request_s = 10, tests_s = 120;
};

std::vector<Planted> Plant(const Candidate& candidate, size_t limit) {
  std::vector<Planted> planted;
  for (Mutant& mutant : MutateSource(candidate.source_text, limit)) {
    MutantResult result;
    result.name = mutant.name;
    result.kind = "source";
    result.operation = mutant.operation;
    result.line = mutant.line;
    result.diff = mutant.diff;
    planted.push_back({std::move(mutant), "", std::move(result)});
  }
  return planted;
}

void Compile(const Candidate& candidate, const MutantOptions& options,
             std::vector<Planted>* planted, RedReport* report) {
  std::vector<CompileRequest> requests;
  for (const Planted& p : *planted) {
    requests.push_back(RequestFor(candidate, options.arch));
    requests.back().source = p.mutant.source;
  }
  Batch batch = CompileAll(options.toolchain, std::move(requests), options.compilers,
                           options.compile_timeout_s);
  report->compiler_left_running = batch.left_running;
  std::map<std::string, std::string> seen = {{CodeDigest(options.binary), ""}};
  for (size_t i = 0; i < planted->size(); ++i) {
    BatchItem& item = batch.items[i];
    MutantResult& result = (*planted)[i].result;
    result.cpu_s = item.cpu_s;
    if (!item.result.ok) {
      result.fate = MutantFate::kNotCompiled;
      result.note = item.finished
                        ? FirstError(item.result.log)
                        : fmt::format("not compiled after {:.0f} s", options.compile_timeout_s);
      continue;
    }
    const auto [same, fresh] = seen.try_emplace(CodeDigest(item.result.cubin), result.name);
    if (fresh) {
      (*planted)[i].cubin = std::move(item.result.cubin);
      continue;
    }
    result.fate = same->second.empty() ? MutantFate::kEquivalent : MutantFate::kDuplicate;
    result.note = "the same machine code as " +
                  (same->second.empty() ? "the candidate itself" : same->second);
  }
}

// One run of all tests; after the first fault of the kernel no further run is asked for.
struct Trial {
  TestReport report;
  SourceState state;
  double longest_request_s = 0;
};

Trial RunTrial(const Case& for_case, const CaseTests& tests, const MutantOptions& options,
               Runner* runner, int program, const Deadlines& deadlines, uint64_t seed) {
  Trial trial;
  const OutputSource source = MakeSource(
      {runner, program, &for_case, &options.plans, 1, deadlines.request_s}, &trial.state);
  const OutputSource timed = [&](int workload, const std::string& folder) {
    RunReply reply;
    reply.verdict = trial.state.first;
    if (!reply.verdict.passed()) return reply;
    const Clock::time_point begin = Clock::now();
    reply = source(workload, folder);
    trial.longest_request_s = std::max(trial.longest_request_s, Since(begin));
    return reply;
  };
  trial.report = tests.run(timed, "", seed, deadlines.tests_s);
  return trial;
}

bool IsInfra(const Verdict& verdict) {
  return verdict.status == Status::kInfraError || verdict.status == Status::kSkipped;
}

void Judge(const Trial& trial, MutantResult* result) {
  result->killed_by.clear();
  result->cpu_s += trial.report.cpu_s;
  const Verdict& fault = trial.state.first.passed() ? trial.report.verdict : trial.state.first;
  if (IsInfra(fault)) {
    result->fate = MutantFate::kNotRun;
    result->note = VerdictName(fault) + ": " + fault.message;
    return;
  }
  if (!trial.state.first.passed() || fault.status == Status::kTimeoutRun) {
    result->killed_by = {fault.status == Status::kTimeoutRun ? "timeout" : "runtime"};
    result->note = fault.message;
  } else {
    for (const TestOutcome& test : trial.report.tests) {
      if (!test.passed) result->killed_by.push_back(test.name);
    }
  }
  if (!result->killed_by.empty()) {
    result->fate = MutantFate::kKilled;
  } else if (fault.passed()) {
    result->fate = MutantFate::kSurvived;
  } else {
    result->fate = MutantFate::kNotRun;
    result->note = VerdictName(fault) + ": " + fault.message;
  }
}

// The workers and what they share.
class Field {
 public:
  Field(const Case& for_case, const CaseTests& tests, const MutantOptions& options)
      : case_(for_case), tests_(tests), options_(options) {}

  std::unique_ptr<Runner> Start() {
    const std::lock_guard lock(mutex_);
    return options_.start_runner ? options_.start_runner() : nullptr;
  }

  // The candidate itself: its deadlines, or why the mutants are not run.
  Verdict Measure(Runner* runner, RedReport* report) {
    Verdict loaded = runner->Load({0, false, options_.binary});
    if (!loaded.passed()) return loaded;
    const Clock::time_point begin = Clock::now();
    const Trial honest = RunTrial(case_, tests_, options_, runner, 0, deadlines_, options_.seed);
    deadlines_.tests_s = std::clamp(5 * Since(begin) + 5, 10.0, 120.0);
    deadlines_.request_s = std::clamp(10 * honest.longest_request_s, 1.0, 10.0);
    report->cpu_s += honest.report.cpu_s;
    AddTests(honest.report, report);
    runner->Unload(0);
    return honest.state.first.passed() ? honest.report.verdict : honest.state.first;
  }

  // `number`: of the mutant, from 1. The runner is replaced where the machine failed.
  void Try(int number, Planted* planted, std::unique_ptr<Runner>* runner) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (*runner == nullptr) *runner = Start();
      if (*runner == nullptr) {
        planted->result.note = "no worker could be started";
        return;
      }
      TryOnce(number, planted, runner->get());
      if (planted->result.fate != MutantFate::kNotRun) break;
      runner->reset();
    }
    if (planted->result.fate == MutantFate::kSurvived) AskSanitizer(planted);
  }

 private:
  void TryOnce(int number, Planted* planted, Runner* runner) {
    MutantResult* result = &planted->result;
    const Verdict loaded = runner->Load({number, false, planted->cubin});
    if (!loaded.passed()) {
      result->fate = IsInfra(loaded) ? MutantFate::kNotRun : MutantFate::kNotCompiled;
      result->note = VerdictName(loaded) + ": " + loaded.message;
      return;
    }
    const int trials = planted->mutant.operation == "dropped-sync" ? options_.trials : 1;
    for (int trial = 0; trial < std::max(1, trials); ++trial) {
      const uint64_t seed =
          options_.seed + static_cast<uint64_t>(number) * 1000 + static_cast<uint64_t>(trial);
      Judge(RunTrial(case_, tests_, options_, runner, number, deadlines_, seed), result);
      if (result->fate != MutantFate::kSurvived) break;
    }
    runner->Unload(number);
  }

  void AskSanitizer(Planted* planted) {
    if (!options_.sanitizer_kills || planted->mutant.operation != "dropped-sync") return;
    const std::lock_guard lock(mutex_);
    if (!options_.sanitizer_kills(planted->mutant, planted->cubin)) return;
    planted->result.fate = MutantFate::kKilled;
    planted->result.killed_by = {"sanitizer"};
  }

  const Case& case_;
  const CaseTests& tests_;
  const MutantOptions& options_;
  Deadlines deadlines_;
  std::mutex mutex_;
};

void SetNotRun(const std::string& why, std::vector<Planted>* planted) {
  for (Planted& p : *planted) {
    if (p.result.fate == MutantFate::kNotRun) p.result.note = why;
  }
}

void Run(const Case& for_case, const CaseTests& tests, const MutantOptions& options,
         std::vector<Planted>* planted, RedReport* report) {
  if (!options.start_runner) return SetNotRun("no device", planted);
  Field field(for_case, tests, options);
  std::unique_ptr<Runner> first = field.Start();
  if (first == nullptr) return SetNotRun("no worker could be started", planted);
  const Verdict honest = field.Measure(first.get(), report);
  if (!honest.passed()) {
    return SetNotRun("the candidate itself: " + VerdictName(honest) + ": " + honest.message,
                     planted);
  }
  std::vector<int> todo;
  for (size_t i = 0; i < planted->size(); ++i) {
    if ((*planted)[i].result.fate == MutantFate::kNotRun) todo.push_back(static_cast<int>(i));
  }
  std::atomic<size_t> next = 0;
  const int workers = std::clamp(options.workers, 1, std::max(1, static_cast<int>(todo.size())));
  InParallel(workers, workers, [&](int worker) {
    std::unique_ptr<Runner> runner;
    if (worker == 0) runner = std::move(first);
    for (size_t k = next++; k < todo.size(); k = next++) {
      field.Try(todo[k] + 1, &(*planted)[todo[k]], &runner);
    }
  });
}

// Of the survivors that the author declares equivalent, as many as may be.
void Declare(const MutantOptions& options, std::vector<Planted>* planted, RedReport* report) {
  const auto told = std::ranges::count_if(*planted, [](const Planted& p) {
    return p.result.fate == MutantFate::kKilled || p.result.fate == MutantFate::kSurvived;
  });
  auto room = static_cast<int64_t>(kMaxDeclaredShare * static_cast<double>(told));
  for (Planted& p : *planted) {
    const DeclaredEquivalent* declared = FindEquivalent(options.declared, p.mutant);
    if (declared == nullptr) continue;
    if (p.result.fate == MutantFate::kKilled) {
      report->findings.push_back(p.result.name + " is declared equivalent, but was killed by " +
                                 p.result.killed_by.front());
    }
    if (p.result.fate != MutantFate::kSurvived) continue;
    if (room-- > 0) {
      p.result.fate = MutantFate::kDeclared;
      p.result.note = declared->reason;
    } else {
      report->findings.push_back(p.result.name + " is declared equivalent beyond a tenth of the " +
                                 "mutants: it counts as a survivor");
    }
  }
}

}  // namespace

RedReport ProveMutants(const Case& for_case, const Candidate& candidate, const CaseTests& tests,
                       const MutantOptions& options, RedReport so_far) {
  const Clock::time_point begin = Clock::now();
  RedReport report = std::move(so_far);
  if (candidate.kind != CandidateKind::kDevice || options.toolchain == nullptr) {
    report.findings.push_back(candidate.kind == CandidateKind::kDevice
                                  ? "no source mutants: no compiler"
                                  : "no source mutants: they are planted in device candidates");
    return report;
  }
  std::vector<Planted> planted = Plant(candidate, options.limit);
  Compile(candidate, options, &planted, &report);
  Run(for_case, tests, options, &planted, &report);
  Declare(options, &planted, &report);
  for (Planted& p : planted) {
    report.cpu_s += p.result.cpu_s;
    report.mutants.push_back(std::move(p.result));
  }
  report.verdict = RedVerdict(report);
  report.wall_s += Since(begin);
  return report;
}

}  // namespace kb
