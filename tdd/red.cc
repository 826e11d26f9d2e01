#include "tdd/red.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "tdd/red_verdict.h"

namespace kb {
namespace {

// Of the mutants that could be run; beyond it the score says little.
constexpr double kMaxNotRunShare = 0.1;

MutantResult Judged(const std::string& name, const TestReport& report) {
  MutantResult mutant;
  mutant.name = name;
  mutant.kind = "builtin";
  mutant.cpu_s = report.cpu_s;
  for (const TestOutcome& test : report.tests) {
    if (!test.passed) mutant.killed_by.push_back(test.name);
  }
  const bool equivalent =
      report.verdict.status == Status::kSkipped && report.verdict.kind == "equivalent";
  if (equivalent) {
    mutant.fate = MutantFate::kEquivalent;
    mutant.killed_by.clear();
    mutant.note = "changes no output of this case";
  } else if (!mutant.killed_by.empty()) {
    mutant.fate = MutantFate::kKilled;
  } else if (report.verdict.passed()) {
    mutant.fate = MutantFate::kSurvived;
  } else {
    mutant.note = VerdictName(report.verdict) + ": " + report.verdict.message;
  }
  return mutant;
}

std::string FirstNames(const RedReport& report, MutantFate fate) {
  std::string names;
  int shown = 0;
  for (const MutantResult& mutant : report.mutants) {
    if (mutant.fate != fate || ++shown > 3) continue;
    names += (shown == 1 ? "" : ", ") + mutant.name;
  }
  return shown > 3 ? names + ", ..." : names;
}

}  // namespace

Verdict RedVerdict(const RedReport& report) {
  const int killed = report.Count(MutantFate::kKilled);
  const int all = killed + report.Count(MutantFate::kSurvived);
  int not_run = 0;
  std::string why;
  for (const MutantResult& mutant : report.mutants) {
    if (mutant.fate != MutantFate::kNotRun || mutant.note == "no device") continue;
    if (not_run++ == 0) why = mutant.note;
  }
  if (not_run > kMaxNotRunShare * (all + not_run)) {
    return {Status::kInfraError, "",
            fmt::format("{} of {} mutants could not be run, the first because of: {}", not_run,
                        all + not_run, why)};
  }
  if (all == 0) return {Status::kWeakTest, "", "no mutant tells whether the test can fail"};
  const double score = *report.Score();
  if (score >= report.threshold) return {};
  return {Status::kWeakTest, "",
          fmt::format("mutation score {:.2f} is under {:.2f}: the test accepts {} of {} wrong "
                      "kernels ({}); add a test that rejects them",
                      score, report.threshold, all - killed, all,
                      FirstNames(report, MutantFate::kSurvived))};
}

void AddTests(const TestReport& from, RedReport* report) {
  for (const TestOutcome& test : from.tests) {
    if (std::ranges::find(report->tests, test.name) == report->tests.end()) {
      report->tests.push_back(test.name);
    }
  }
}

void InParallel(int threads, int count, const std::function<void(int)>& work) {
  std::atomic<int> next = 0;
  std::exception_ptr failure;
  std::mutex mutex;
  const auto serve = [&] {
    for (int i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < std::min(threads, count); ++i) pool.emplace_back(serve);
  serve();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

RedReport ProveRed(const Case& for_case, const CaseTests& tests, uint64_t seed, double timeout_s) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string>& names = tests.builtin_mutants;
  std::vector<TestReport> reports(names.size());
  const OutputSource none = [](int, const std::string&) {
    RunReply reply;
    reply.verdict = {Status::kInfraError, "", "a built-in mutant asked for a kernel's outputs"};
    return reply;
  };
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  InParallel(cores, static_cast<int>(names.size()), [&](int i) {
    reports[i] = tests.run(none, names[i], seed + static_cast<uint64_t>(i), timeout_s);
  });
  RedReport red;
  red.threshold = for_case.red_threshold;
  for (size_t i = 0; i < names.size(); ++i) {
    AddTests(reports[i], &red);
    red.mutants.push_back(Judged(names[i], reports[i]));
    red.cpu_s += reports[i].cpu_s;
  }
  red.verdict = RedVerdict(red);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  red.wall_s = wall.count();
  return red;
}

}  // namespace kb
