// One run of what is judged: inputs out, outputs in, or a mutant's outputs made here.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "tdd/judge/compare.h"
#include "tdd/judge/mutants.h"
#include "tdd/judge/reference.h"
#include "tdd/judge/tally.h"
#include "tdd/judge/tensor_file.h"
#include "tdd/judge/wire.h"

namespace kb::test {

using internal::TheTally;
using internal::TheTask;

namespace {

bool Same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

struct Run::State {
  const internal::WorkloadTask& workload;
  Inputs inputs;
  Outputs right;
  ByName<std::vector<double>> got;
  bool ok = true;
  bool looked_at = false;

  void Fail(const std::string& why) {
    ok = false;
    for (const internal::TensorTask& output : TheTask().outputs) {
      got[output.name].assign(static_cast<size_t>(CountOf(workload, output.name)),
                              std::numeric_limits<double>::quiet_NaN());
    }
    ADD_FAILURE() << "the run on " << workload.workload.label() << " failed: " << why;
  }

  void Look(std::string_view output) {
    if (got.find(output) == got.end()) {
      throw std::invalid_argument("no output '" + std::string(output) + "'");
    }
    looked_at = true;
    TheTally().looked_at.emplace(output);
  }

  // A mutant stands in for the candidate.
  void Mutate() {
    const internal::Task& task = TheTask();
    const ByName<std::vector<double>> unspoilt = internal::Rounded(right);
    got = unspoilt;
    if (task.mutant == "half-accumulate") {
      internal::half_accumulate = true;
      got = internal::Rounded(RightOutputs(workload, inputs, true));
      internal::half_accumulate = false;
    }
    for (const internal::TensorTask& output : task.outputs) {
      std::vector<double>& values = got[output.name];
      const std::vector<double>& same = unspoilt.at(output.name);
      const bool spare = task.mutant == "reference" ||
                         (!task.mutated_output.empty() && task.mutated_output != output.name);
      if (spare) {
        values = same;
      } else if (!Spoil(task.mutant, workload, inputs, output, &values)) {
        internal::Fault("INFRA_ERROR", "no mutant '" + task.mutant + "'");
      }
      TheTally().changed |= !std::ranges::equal(values, same, Same);
    }
  }

  void Ask(const std::string& folder) {
    WriteInputs(workload, inputs, folder);
    internal::Say("run " + std::to_string(workload.workload.index()) + " " + folder);
    const std::string answer = internal::Hear();
    if (answer != "done") {
      TheTally().failed = true;
      return Fail(answer);
    }
    for (const internal::TensorTask& output : TheTask().outputs) {
      std::string why;
      auto values = ReadTensor(folder + "/out." + output.name, *output.format,
                               CountOf(workload, output.name), &why);
      if (!values) {
        internal::Say("wrong-shape " + why);
        return Fail(why);
      }
      got[output.name] = std::move(*values);
    }
  }

  void AskInFolder() {
    if (TheTally().failed) return Fail("an earlier one failed, so it was not tried");
    const std::string folder = TheTask().scratch + "/run" + std::to_string(TheTally().draws);
    if (mkdir(folder.c_str(), 0700) != 0) {
      internal::Fault("INFRA_ERROR", "cannot make " + folder + ": " + std::strerror(errno));
    }
    Ask(folder);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

Run::Run(const Workload& workload, const RunOptions& options) {
  const auto& workloads = TheTask().workloads;
  const internal::WorkloadTask& task = workloads.at(static_cast<size_t>(workload.index()));
  for (const auto& [name, filling] : options.fill) {
    if (std::ranges::find(TheTask().inputs, name, &internal::TensorTask::name) ==
        TheTask().inputs.end()) {
      throw std::invalid_argument("no input '" + name + "' to fill");
    }
  }
  Inputs inputs = internal::DrawInputs(task, ++TheTally().draws, options.fill);
  Outputs right = internal::RightOutputs(task, inputs, !options.fill.empty());
  state_ = std::make_unique<State>(State{task, std::move(inputs), std::move(right), {}});
  TheTask().mutant.empty() ? state_->AskInFolder() : state_->Mutate();
  ++TheTally().runs;
  TheTally().workloads.insert(workload.index());
}

Run::~Run() {
  if (!state_->ok || state_->looked_at) return;
  // A test that has failed may stop before it looks at this run.
  if (testing::Test::HasFailure() || std::uncaught_exceptions() > 0) return;
  TheTally().unseen = true;
  ADD_FAILURE() << "the outputs of a run on " << state_->workload.workload.label()
                << " were looked at by nobody";
}

bool Run::ok() const { return state_->ok; }

testing::AssertionResult Run::Matches() const {
  std::string faults;
  for (const internal::TensorTask& output : TheTask().outputs) {
    testing::AssertionResult result = Matches(output.name);
    if (!result) faults += (faults.empty() ? "" : "; ") + std::string(result.message());
  }
  if (faults.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << faults;
}

testing::AssertionResult Run::Matches(std::string_view output) const {
  State& s = *state_;
  s.Look(output);
  if (!s.ok) return testing::AssertionFailure() << "the run failed";
  const auto& outputs = TheTask().outputs;
  const internal::TensorTask& task =
      *std::ranges::find(outputs, output, &internal::TensorTask::name);
  auto magnitude = s.right.magnitudes().find(output);
  const bool has_magnitude = magnitude != s.right.magnitudes().end();
  const internal::Difference difference = internal::Compare(
      *task.format, s.workload.allowed.at(task.name), s.right.tensors().at(task.name),
      has_magnitude ? &magnitude->second : nullptr, s.got.at(task.name));
  internal::Say(internal::CompareLine(s.workload.workload.index(), task.name, difference));
  if (difference.passed()) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << internal::Describe(task.name, s.workload.shapes.at(task.name), difference) << " on "
         << s.workload.workload.label();
}

const std::vector<double>& Run::operator[](std::string_view output) const {
  state_->Look(output);
  return state_->got.find(output)->second;
}

const std::vector<double>& Run::want(std::string_view output) const {
  return state_->right[output];
}

const std::vector<double>& Run::in(std::string_view input) const { return state_->inputs[input]; }

}  // namespace kb::test
