#include "tdd/measure_batch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "kb/file.h"

namespace kb {
namespace {

std::string Format(const char* format, double a, double b) {
  char text[160];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

// `must`: at the last chance to check any.
std::vector<int> DrawRounds(MeasureSetting& setting, int rounds, bool must) {
  std::vector<int> all(static_cast<size_t>(rounds));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  std::shuffle(all.begin(), all.end(), setting.random);
  // Half of the batches, so that outputs, which are large, do not cost more than the timing.
  const int checked = must || setting.random() % 2 == 0 ? setting.options.checked_per_batch : 0;
  all.resize(std::min<size_t>(all.size(), static_cast<size_t>(checked)));
  std::sort(all.begin(), all.end());
  return all;
}

bool IsTime(double us) { return us > 0 && us < 1e10; }

// Whether the reply is one to this request at all.
Verdict CheckShape(const MeasureSetting& setting, const MeasureRequest& request,
                   const MeasureReply& reply) {
  const size_t rounds = static_cast<size_t>(request.rounds);
  if (reply.baseline_us.size() != 2 * rounds || reply.candidate_us.size() != 2 * rounds ||
      reply.throttled.size() != rounds) {
    return {Status::kInfraError, "", "the worker's reply has not the samples that were asked for"};
  }
  if (!std::all_of(reply.baseline_us.begin(), reply.baseline_us.end(), IsTime) ||
      !std::all_of(reply.candidate_us.begin(), reply.candidate_us.end(), IsTime)) {
    return TimerVerdict(setting, "a timed call took no time, or no finite one");
  }
  return {};
}

// All calls happened while we waited: by our clock, and by the worker's own.
Verdict CheckClock(const MeasureSetting& setting, const MeasureReply& reply, double waited_s) {
  double sum = 0;
  for (const double us : reply.baseline_us) sum += us * 1e-6;
  for (const double us : reply.candidate_us) sum += us * 1e-6;
  if (sum > waited_s) {
    return TimerVerdict(
        setting, Format("the timed calls sum to %.3f s, but we waited only %.3f s", sum, waited_s));
  }
  if (reply.wall_s > waited_s + 0.01) {
    return TimerVerdict(setting, Format("the worker's clock counted %.3f s while ours counted %.3f",
                                        reply.wall_s, waited_s));
  }
  if (!(sum <= reply.wall_s + 0.001)) {
    return TimerVerdict(setting, Format("the timed calls sum to %.3f s, their loop took %.3f s",
                                        sum, reply.wall_s));
  }
  return {};
}

// Outputs of the calls that were picked, against the judge. Until `check_s` is spent, in random
// order, so that the candidate cannot know that late ones are safe.
Verdict CheckOutputs(MeasureSetting& setting, const InputSets& inputs,
                     const MeasureRequest& request, const MeasureReply& reply, double* spent_s,
                     Measurement* m) {
  std::vector<CheckedCall> calls = reply.checked;
  for (const int round : request.checked_rounds) {
    const auto is_of = [round](const CheckedCall& call) { return call.round == round; };
    if (std::none_of(calls.begin(), calls.end(), is_of)) {
      return {Status::kInfraError, "", "the worker returned no outputs of a call that was picked"};
    }
  }
  std::shuffle(calls.begin(), calls.end(), setting.random);
  for (const CheckedCall& call : calls) {
    if (m->checked > 0 && *spent_s > setting.options.check_s) break;
    const size_t folder = static_cast<size_t>(call.input_folder);
    const bool ours = DirName(call.folder) == request.check_folder;
    if (call.input_folder < 0 || folder >= inputs.sets.size() || !ours) {
      return {Status::kInfraError, "", "the worker's reply names folders that are not ours"};
    }
    const double start = setting.Now();
    std::vector<Comparison> comparisons;
    Verdict verdict = setting.judge.Check(inputs.sets[folder], call.folder, &comparisons);
    *spent_s += setting.Now() - start;
    const bool ours_at_fault = verdict.status == Status::kInfraError ||
                               verdict.status == Status::kInvalidReference ||
                               verdict.status == Status::kSkipped;
    if (ours_at_fault) return verdict;
    if (!verdict.passed()) {
      return {Status::kRewardHack, "timed-output",
              "a timed call of round " + std::to_string(call.round) + " on " + m->workload +
                  " gave a wrong output though the tests passed: " + verdict.message};
    }
    ++m->checked;
  }
  return {};
}

void KeepRounds(const MeasureReply& reply, Measurement* m) {
  const auto kept = [](double us) { return std::round(us * 1000) / 1000; };
  size_t rounds = 0;
  for (size_t i = 0; i < reply.throttled.size(); ++i) {
    if (reply.throttled[i]) {
      ++m->dropped;
      continue;
    }
    ++rounds;
    for (const size_t k : {2 * i, 2 * i + 1}) {
      m->rounds.baseline.push_back(kept(reply.baseline_us[k]));
      m->rounds.candidate.push_back(kept(reply.candidate_us[k]));
    }
  }
  if (rounds > 0) m->rounds.batches.push_back(rounds);
}

void SetConditions(MeasureState* state, Value conditions) {
  Value first = state->batches == 0 ? conditions : state->m.conditions["first_batch"];
  state->m.conditions =
      Value(Value::Map{{"first_batch", std::move(first)}, {"last_batch", std::move(conditions)}});
}

}  // namespace

double MeasureSetting::Now() const {
  if (options.now) return options.now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Verdict TimerVerdict(const MeasureSetting& setting, std::string message) {
  if (setting.host()) return {Status::kRewardHack, "timer", std::move(message)};
  return {Status::kInfraError, "", std::move(message)};
}

Verdict RunBatch(MeasureSetting& setting, const InputSets& inputs, int rounds, bool pilot,
                 MeasureState* state) {
  MeasureRequest& request = state->request;
  const bool must = state->m.checked == 0 && state->batches + 1 >= setting.options.min_batches;
  request.rounds = rounds;
  request.checked_rounds = pilot ? std::vector<int>() : DrawRounds(setting, rounds, must);
  const double start = setting.Now();
  const MeasureReply reply = setting.runner.Measure(request);
  const double waited_s = setting.Now() - start;
  if (!reply.verdict.passed()) return reply.verdict;
  if (Verdict verdict = CheckShape(setting, request, reply); !verdict.passed()) return verdict;
  if (Verdict verdict = CheckClock(setting, reply, waited_s); !verdict.passed()) return verdict;
  state->round_s = reply.wall_s / rounds;
  if (pilot) return {};
  Verdict verdict = CheckOutputs(setting, inputs, request, reply, &state->checking_s, &state->m);
  std::error_code ignored;
  std::filesystem::remove_all(request.check_folder, ignored);
  if (!verdict.passed()) return verdict;
  KeepRounds(reply, &state->m);
  SetConditions(state, reply.conditions);
  state->rounds += rounds;
  state->batches += 1;
  state->m.wall_s += reply.wall_s;  // others may have had the GPU meanwhile
  state->m.ratio = RatioOfMedians(state->m.rounds);
  return {};
}

}  // namespace kb
