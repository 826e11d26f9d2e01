#include "tdd/measure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "tdd/measure_batch.h"
#include "tdd/scratch.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kMinSets = 3, kMaxSets = 8;  // fewer than 3 and a cache may hold them all
constexpr int kPilotRounds = 3;                // warm up, and tell how long a round takes
constexpr int kMinBatchRounds = 5;             // below, a batch's own ratio means nothing
constexpr size_t kMinRounds = 5;               // kept ones, for any claim

std::string Format(const char* format, double a, double b) {
  char text[160];
  std::snprintf(text, sizeof text, format, a, b);
  return text;
}

void Remove(const std::string& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

// ---- inputs ----

InputSets DrawInputs(MeasureSetting& setting, int workload, const Axes& axes) {
  InputSets inputs;
  for (const TensorSpec& tensor : setting.for_case.inputs) {
    if (!tensor.scalar) inputs.set_bytes += BytesOf(tensor, axes).value_or(0);
  }
  const int64_t room = setting.options.input_bytes;
  if (inputs.set_bytes > 4 * room / kMinSets) {
    inputs.verdict = {Status::kInvalidCase, "",
                      "a timed workload has " + std::to_string(inputs.set_bytes) +
                          " bytes of inputs, too many for 3 sets: make it smaller"};
    return inputs;
  }
  const int64_t most =
      std::clamp(room / std::max<int64_t>(1, inputs.set_bytes), kMinSets, kMaxSets);
  const double start = setting.Now();
  for (int64_t i = 0; i < most; ++i) {
    if (i >= kMinSets && setting.Now() - start > setting.options.draw_s) break;
    const int set = setting.next_set++;
    const std::string folder = setting.scratch + "/set" + std::to_string(set);
    inputs.verdict = setting.judge.DrawInputs(workload, set, folder);
    if (!inputs.verdict.passed()) return inputs;
    inputs.folders.push_back(folder);
    inputs.sets.push_back(set);
  }
  return inputs;
}

// ---- one workload ----

int NextRounds(const MeasureState& state, const MeasureOptions& options) {
  const int left = std::max(1, options.min_batches - state.batches);
  const double time = (options.budget_s - state.m.wall_s) / left;
  const double fit = state.round_s > 0 ? time / state.round_s : options.batch_rounds;
  const int rounds = static_cast<int>(std::clamp(fit, 0.0, 1e6));
  const int most = std::min(options.batch_rounds, options.max_rounds - state.rounds);
  return std::clamp(rounds, std::min(kMinBatchRounds, most), most);
}

// "" while it goes on. Half-widths below the aim end it only when the batches can tell drift.
std::string StoppedBy(const MeasureState& state, const MeasureOptions& options) {
  const bool enough = state.batches >= options.min_batches;
  if (enough && state.m.ratio.sampling < options.precision) return "precision";
  if (state.rounds >= options.max_rounds) return "rounds";
  return state.m.wall_s >= options.budget_s ? "time" : "";
}

Verdict Finish(MeasureState* state) {
  Measurement& m = state->m;
  const size_t kept = m.rounds.rounds();
  if (kept < kMinRounds || static_cast<size_t>(m.dropped) > kept) {
    return {Status::kInfraError, "",
            "the GPU's clocks were held down in " + std::to_string(m.dropped) + " of " +
                std::to_string(state->rounds) + " rounds on " + m.workload +
                ": let it cool, or see what else runs"};
  }
  m.baseline = MedianOf(m.rounds.baseline, m.rounds.batches);
  m.candidate = MedianOf(m.rounds.candidate, m.rounds.batches);
  return {};
}

// Cold and warm batches in turns, so that each state's batches lie further apart in time and
// their spread shows more of the drift.
Verdict RunStates(MeasureSetting& setting, const InputSets& inputs,
                  std::vector<MeasureState>* states) {
  for (bool all_done = false; !all_done;) {
    all_done = true;
    for (MeasureState& state : *states) {
      if (state.done) continue;
      if (state.batches == 0) {
        Verdict pilot = RunBatch(setting, inputs, kPilotRounds, true, &state);
        if (!pilot.passed()) return pilot;
      }
      Verdict verdict =
          RunBatch(setting, inputs, NextRounds(state, setting.options), false, &state);
      if (!verdict.passed()) return verdict;
      state.m.stopped_by = StoppedBy(state, setting.options);
      state.done = !state.m.stopped_by.empty();
      all_done = all_done && state.done;
    }
  }
  return {};
}

// ---- energy ----

struct Energy {
  double joules = 0;
  Verdict verdict;
};

// The loop also shows what a run takes by our own clock: event times far below that are made up.
// Allowed: half as much again and 50 us, for what the host does between runs.
Energy MeasureEnergy(const MeasureSetting& setting, const Timed& timed, const InputSets& inputs,
                     double claimed_us) {
  EnergyRequest request{timed, inputs.folders[0], setting.options.energy_s};
  const double start = setting.Now();
  const EnergyReply reply = setting.runner.Energy(request);
  const double waited_s = reply.waited_s > 0 ? reply.waited_s : setting.Now() - start;
  const bool unknown =
      reply.verdict.status == Status::kSkipped || reply.verdict.status == Status::kInfraError;
  if (unknown) return {};
  if (!reply.verdict.passed()) return {0, reply.verdict};
  const double loading_s = 0.5 + static_cast<double>(inputs.set_bytes) / 200e6;
  const double runs = static_cast<double>(std::max<int64_t>(1, reply.runs));
  const double run_us = (waited_s - loading_s) / runs * 1e6;
  if (run_us > 1.5 * claimed_us + 50) {
    return {0, TimerVerdict(setting, Format("back to back a run takes %.1f us by our clock, but "
                                            "%.1f us by its events",
                                            run_us, claimed_us))};
  }
  const double joules = reply.joules_per_run;
  return {joules > 0 && std::isfinite(joules) ? joules : 0, {}};
}

Verdict AddEnergy(const MeasureSetting& setting, const InputSets& inputs,
                  std::vector<MeasureState>* states) {
  if (!(setting.options.energy_s > 0) || states->empty()) return {};
  const MeasureState& last = states->back();  // warm, if that was asked for
  const Energy baseline =
      MeasureEnergy(setting, last.request.baseline, inputs, last.m.baseline.value);
  if (!baseline.verdict.passed()) return baseline.verdict;
  const Energy candidate =
      MeasureEnergy(setting, last.request.candidate, inputs, last.m.candidate.value);
  if (!candidate.verdict.passed()) return candidate.verdict;
  for (MeasureState& state : *states) {
    state.m.baseline_joules = baseline.joules;
    state.m.candidate_joules = candidate.joules;
  }
  return {};
}

// ---- the stage ----

std::vector<MeasureState> MakeStates(const MeasureSetting& setting, const Workload& workload,
                                     const Timed& baseline, const Timed& candidate,
                                     const InputSets& inputs) {
  std::vector<MeasureState> states;
  for (const bool cold : {true, false}) {
    if (!(cold ? setting.options.cold : setting.options.warm)) continue;
    MeasureState state;
    state.m.workload = workload.label;
    state.m.axes = workload.axes;
    state.m.cold_l2 = cold;
    state.request = {baseline,
                     candidate,
                     inputs.folders,
                     cold,
                     0,
                     {},
                     setting.scratch + "/check",
                     setting.options.timeout_s};
    states.push_back(std::move(state));
  }
  return states;
}

Verdict TimeWorkload(MeasureSetting& setting, size_t index,
                     std::vector<Measurement>* measurements) {
  const Workload& workload = setting.for_case.time[index];
  Timed timed[2];
  const MeasuredProgram* programs[] = {&setting.baseline, &setting.candidate};
  for (int i = 0; i < 2; ++i) {
    const Candidate& candidate = *programs[i]->candidate;
    Planned planned = PlanRun(setting.for_case, candidate, workload.axes);
    if (!planned.plan) {
      return {Status::kInvalidCase, "",
              candidate.id + " on " + workload.label + ": " + planned.why};
    }
    timed[i] = {programs[i]->program, std::move(*planned.plan)};
  }
  const InputSets inputs = DrawInputs(setting, static_cast<int>(index), workload.axes);
  std::vector<MeasureState> states;
  Verdict verdict = inputs.verdict;
  if (verdict.passed()) {
    states = MakeStates(setting, workload, timed[0], timed[1], inputs);
    verdict = RunStates(setting, inputs, &states);
  }
  for (MeasureState& state : states) {
    if (verdict.passed()) verdict = Finish(&state);
  }
  if (verdict.passed() && index == 0) verdict = AddEnergy(setting, inputs, &states);
  for (const std::string& folder : inputs.folders) Remove(folder);
  if (!verdict.passed()) return verdict;
  for (MeasureState& state : states) measurements->push_back(std::move(state.m));
  return {};
}

}  // namespace

Measured ProveMeasure(const Case& for_case, const MeasuredProgram& baseline,
                      const MeasuredProgram& candidate, Runner& runner, JudgeSession& judge,
                      const std::optional<Peaks>& peaks, const MeasureOptions& options) {
  const Scratch scratch(options.temp);
  MeasureSetting setting{for_case, baseline, candidate,      runner,
                         judge,    options,  scratch.path(), std::mt19937_64(options.seed)};
  const double start = setting.Now();
  Measured measured;
  measured.report.name = "measure";
  for (size_t i = 0; i < for_case.time.size() && measured.report.verdict.passed(); ++i) {
    measured.report.verdict = TimeWorkload(setting, i, &measured.measurements);
  }
  Value::List items;
  for (const Measurement& measurement : measured.measurements) {
    items.push_back(
        ToValue(measurement, for_case, baseline.candidate->id, candidate.candidate->id, peaks));
  }
  measured.report.detail = Value(std::move(items));
  measured.report.seconds = setting.Now() - start;
  return measured;
}

}  // namespace kb
