#include "tdd/green.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kb {
namespace {

Value ToValue(const Comparison& c) {
  Value value;
  value.Set("workload", c.workload).Set("output", c.output);
  value.Set("max_abs", c.max_abs).Set("max_rel", c.max_rel).Set("max_ulp", c.max_ulp);
  value.Set("matched", c.matched).Set("nonfinite", c.nonfinite);
  if (c.worst >= 0)
    value.Set("worst", Value().Set("index", c.worst).Set("got", c.got).Set("want", c.want));
  return value;
}

bool Worse(const Comparison& a, const Comparison& b) {
  if (a.nonfinite != b.nonfinite) return a.nonfinite > b.nonfinite;
  return a.matched < b.matched || (a.matched == b.matched && a.max_abs > b.max_abs);
}

// One comparison an output and workload: the worst.
void Merge(const std::vector<Comparison>& more, std::vector<Comparison>* all) {
  for (const Comparison& c : more) {
    auto same = std::ranges::find_if(*all, [&](const Comparison& have) {
      return have.workload == c.workload && have.output == c.output;
    });
    if (same == all->end()) {
      all->push_back(c);
    } else if (Worse(c, *same)) {
      *same = c;
    }
  }
}

void Merge(const std::vector<TestOutcome>& more, std::vector<TestOutcome>* all) {
  for (const TestOutcome& t : more) {
    auto same = std::ranges::find(*all, t.name, &TestOutcome::name);
    if (same == all->end()) {
      all->push_back(t);
    } else if (same->passed && !t.passed) {
      *same = t;
    }
  }
}

std::string FirstFailure(const std::vector<TestOutcome>& tests) {
  for (const TestOutcome& t : tests) {
    if (!t.passed) return t.name + ": " + t.message;
  }
  return "";
}

// What failed tests mean: a fault of the run itself, values that are not finite, or wrong ones.
Verdict Judge(const TestReport& report, const SourceState& state,
              const std::vector<Comparison>& comparisons) {
  if (!state.first.passed()) return state.first;
  if (report.verdict.passed()) return {};
  if (report.verdict.status != Status::kIncorrectNumerical) return report.verdict;
  const bool nonfinite =
      std::ranges::any_of(comparisons, [](const Comparison& c) { return c.nonfinite > 0; });
  return {nonfinite ? Status::kIncorrectNonfinite : Status::kIncorrectNumerical, "",
          report.verdict.message.empty() ? FirstFailure(report.tests) : report.verdict.message};
}

Value Detail(const std::vector<TestOutcome>& tests, const std::vector<Comparison>& comparisons) {
  Value test_list = Value::List{}, output_list = Value::List{};
  for (const TestOutcome& t : tests) {
    Value row;
    row.Set("name", t.name).Set("passed", t.passed);
    if (!t.message.empty()) row.Set("message", t.message);
    test_list.Add(row);
  }
  for (const Comparison& c : comparisons) output_list.Add(ToValue(c));
  return Value().Set("tests", test_list).Set("outputs", output_list);
}

}  // namespace

OutputSource MakeSource(const RunnerSource& from, SourceState* state) {
  return [from, state](int workload, const std::string& folder) {
    RunRequest request;
    request.program = from.program;
    request.plan = (*from.plans)[static_cast<size_t>(workload)];
    request.folder = folder;
    request.repeats = from.repeats;
    request.timeout_s = from.timeout_s;
    RunReply reply = from.runner->Run(request);
    if (!reply.verdict.passed() && state->first.passed()) state->first = reply.verdict;
    state->deterministic = state->deterministic && reply.deterministic;
    state->longest_us = std::max(state->longest_us, reply.device_us);
    return reply;
  };
}

StageReport ProveGreen(const Case& for_case, const std::string& judge, const RunnerSource& from,
                       const GreenOptions& options) {
  StageReport stage{"green", {}, 0, {}};
  SourceState state;
  std::vector<Comparison> comparisons;
  std::vector<TestOutcome> tests;
  int trial = 0, runs = 0;
  for (; trial < options.trials && stage.verdict.passed(); ++trial) {
    RunnerSource source = from;
    source.repeats = trial == 0 ? 2 : 1;
    const TestReport report = RunTests(judge, for_case, MakeSource(source, &state), "",
                                       options.seed + static_cast<uint64_t>(trial), false,
                                       options.timeout_s, options.temp);
    Merge(report.comparisons, &comparisons);
    Merge(report.tests, &tests);
    runs += report.runs;
    stage.verdict = Judge(report, state, comparisons);
  }
  if (stage.verdict.passed() && for_case.deterministic && !state.deterministic) {
    stage.verdict = {Status::kNondeterministic, "",
                     "two runs on the same inputs gave other bits, and the case demands the same"};
  }
  stage.detail = Detail(tests, comparisons);
  stage.detail.Set("trials", trial).Set("runs", runs).Set("deterministic", state.deterministic);
  return stage;
}

}  // namespace kb
