#include "tdd/judge/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <set>

#include "tdd/judge/draw.h"
#include "tdd/judge/tensor_file.h"
#include "tdd/judge/wire.h"

namespace kb::test::internal {
namespace {

constexpr uint64_t kTrialDraws = uint64_t{1} << 62;  // numbers of runs that no test makes

[[noreturn]] void Invalid(const WorkloadTask& workload, const std::string& what,
                          std::string_view kind = "-") {
  Fault("INVALID_REFERENCE", "reference.cc, workload " + workload.workload.label() + ": " + what,
        kind);
}

Source Drawn(const Filling& filling, uint64_t run, size_t tensor) {
  const uint64_t key = KeyOf(TheTask().seed, run, tensor);
  return [filling, key](int64_t begin, int64_t n, double* values) {
    Draw(filling, key, begin, n, values);
  };
}

bool CanHold(const Format& format, double value) {
  if (!format.floating) {
    return value >= format.lowest && value <= format.highest && std::floor(value) == value;
  }
  return std::isfinite(Round(format, value));
}

void CheckValues(const WorkloadTask& workload, const TensorTask& output,
                 const std::vector<double>& values) {
  const auto n = static_cast<int64_t>(values.size());
  std::atomic<int64_t> first = n;
  ParallelBlocks(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (CanHold(*output.format, values[i])) continue;
      for (int64_t seen = first; i < seen && !first.compare_exchange_weak(seen, i);) {
      }
      return;
    }
  });
  if (first == n) return;
  Invalid(workload, output.name + "[" + std::to_string(first) + "] is " + Number(values[first]) +
                        ", which " + output.format->name +
                        " cannot hold; give it inputs that have an answer");
}

void CheckSizes(const WorkloadTask& workload, const Outputs& outputs) {
  for (const TensorTask& output : TheTask().outputs) {
    const int64_t count = CountOf(workload, output.name);
    auto right = [count](const auto& map, const std::string& name) {
      auto found = map.find(name);
      return found == map.end() || static_cast<int64_t>(found->second.size()) == count;
    };
    if (!right(outputs.tensors(), output.name) || !right(outputs.magnitudes(), output.name)) {
      Invalid(workload, "it changed the size of " + output.name);
    }
  }
}

// Takes out of `same` the outputs that differ between two draws.
void CompareDraws(const WorkloadTask& workload, std::set<std::string>* same) {
  ByName<std::vector<double>> outputs[2];
  for (uint64_t draw : {0, 1}) {
    const uint64_t run = kTrialDraws + 2 * static_cast<uint64_t>(workload.workload.index()) + draw;
    outputs[draw] = Rounded(RightOutputs(workload, DrawInputs(workload, run), false));
  }
  std::erase_if(
      *same, [&](const std::string& name) { return outputs[0].at(name) != outputs[1].at(name); });
}

}  // namespace

Inputs DrawInputs(const WorkloadTask& workload, uint64_t run, const ByName<Filling>& chosen) {
  ByName<std::vector<double>> tensors;
  const std::vector<TensorTask>& inputs = TheTask().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto found = chosen.find(inputs[i].name);
    const Filling& filling = found == chosen.end() ? inputs[i].filling : found->second;
    tensors[inputs[i].name] =
        Collect(*inputs[i].format, CountOf(workload, inputs[i].name), Drawn(filling, run, i));
  }
  return {workload.axes, TheTask().scalars, std::move(tensors)};
}

void WriteInputs(const WorkloadTask& workload, const Inputs& inputs, const std::string& folder) {
  for (const TensorTask& input : TheTask().inputs) {
    const std::vector<double>& all = inputs[input.name];
    WriteTensor(folder + "/in." + input.name, *input.format, CountOf(workload, input.name),
                [&all](int64_t begin, int64_t n, double* values) {
                  std::copy_n(all.data() + begin, n, values);
                });
  }
}

void WriteDrawnInputs(const WorkloadTask& workload, uint64_t run, const std::string& folder) {
  const std::vector<TensorTask>& inputs = TheTask().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    WriteTensor(folder + "/in." + inputs[i].name, *inputs[i].format,
                CountOf(workload, inputs[i].name), Drawn(inputs[i].filling, run, i));
  }
}

Outputs RightOutputs(const WorkloadTask& workload, const Inputs& inputs, bool chosen) {
  ByName<std::vector<double>> zeros;
  for (const TensorTask& output : TheTask().outputs) {
    zeros[output.name].resize(static_cast<size_t>(CountOf(workload, output.name)));
  }
  Outputs outputs(std::move(zeros));
  Say("in reference");
  try {
    Reference(inputs, outputs);
  } catch (const std::exception& error) {
    Invalid(workload, std::string("it threw: ") + error.what());
  } catch (...) {
    Invalid(workload, "it threw what is no std::exception");
  }
  Say("in test");
  CheckSizes(workload, outputs);
  if (chosen || half_accumulate) return outputs;
  for (const TensorTask& output : TheTask().outputs) {
    CheckValues(workload, output, outputs.tensors().at(output.name));
  }
  return outputs;
}

ByName<std::vector<double>> Rounded(const Outputs& outputs) {
  ByName<std::vector<double>> rounded;
  for (const TensorTask& output : TheTask().outputs) {
    const std::vector<double>& values = outputs.tensors().at(output.name);
    rounded[output.name] = Collect(*output.format, static_cast<int64_t>(values.size()),
                                   [&values](int64_t begin, int64_t n, double* to) {
                                     std::copy_n(values.data() + begin, n, to);
                                   });
  }
  return rounded;
}

void CheckThatInputsMatter() {
  std::set<std::string> same;
  for (const TensorTask& output : TheTask().outputs) same.insert(output.name);
  for (const WorkloadTask& workload : TheTask().workloads) {
    if (!same.empty()) CompareDraws(workload, &same);
  }
  if (same.empty()) return;
  Invalid(TheTask().workloads.front(),
          "output " + *same.begin() +
              " is the same whatever the inputs are, here and in all other workloads: a constant "
              "would pass",
          "input-independent");
}

}  // namespace kb::test::internal
