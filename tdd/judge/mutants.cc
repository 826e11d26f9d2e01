#include "tdd/judge/mutants.h"

#include <algorithm>
#include <limits>

namespace kb::test::internal {
namespace {

constexpr int64_t kVectorWidth = 4, kBlock = 256;  // of the kernels that these faults are of

struct Victim {
  const WorkloadTask& workload;
  const Inputs& inputs;
  const TensorTask& output;
  std::vector<double>& values;

  [[nodiscard]] int64_t n() const { return static_cast<int64_t>(values.size()); }
  void PoisonLast(int64_t count) const {
    std::fill(values.end() - std::min(n(), count), values.end(), Poison(*output.format));
  }
};

// Nothing is written.
void NoOp(const Victim& v) { v.PoisonLast(v.n()); }
void Zeros(const Victim& v) { std::ranges::fill(v.values, 0.0); }
void One(const Victim& v) { std::ranges::fill(v.values, 1.0); }

// The first input of the same dtype, or else the first input; repeated if it is the shorter.
void CopyInput(const Victim& v) {
  const std::vector<TensorTask>& inputs = TheTask().inputs;
  if (inputs.empty()) return;
  auto same = std::ranges::find(inputs, v.output.format, &TensorTask::format);
  const std::vector<double>& from = v.inputs[same == inputs.end() ? inputs[0].name : same->name];
  for (int64_t i = 0; i < v.n(); ++i) {
    v.values[i] = Round(*v.output.format, from[static_cast<size_t>(i) % from.size()]);
  }
}

// Integers have no NaN: the greatest value stands for it.
void NotANumber(const Victim& v) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::ranges::fill(v.values, v.output.format->floating ? nan : v.output.format->highest);
}

// A kernel that reads four elements at a time and forgets the rest.
void DroppedTail(const Victim& v) { v.PoisonLast(std::max<int64_t>(1, v.n() % kVectorWidth)); }
void LastBlock(const Victim& v) { v.PoisonLast(kBlock); }

void OffByOne(const Victim& v) {
  std::rotate(v.values.begin(), v.values.begin() + 1, v.values.end());
}

void WrongStride(const Victim& v) {
  const std::vector<double> right = v.values;
  for (int64_t i = 0; i < v.n(); ++i) v.values[i] = right[2 * i % v.n()];
}

// The last two dimensions written in the other order.
void Transposed(const Victim& v) {
  const std::vector<int64_t>& shape = v.workload.shapes.at(v.output.name);
  if (shape.size() < 2) return;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const std::vector<double> right = v.values;
  for (int64_t base = 0; base < v.n(); base += rows * columns) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        v.values[base + c * rows + r] = right[base + r * columns + c];
      }
    }
  }
}

// The outputs were computed in half precision already.
void HalfAccumulate(const Victim&) {}

struct NamedFault {
  const char* name;
  void (*spoil)(const Victim&);
};
constexpr NamedFault kFaults[] = {{"no-op", NoOp},
                                  {"zeros", Zeros},
                                  {"constant", One},
                                  {"copy-input", CopyInput},
                                  {"nan", NotANumber},
                                  {"dropped-tail", DroppedTail},
                                  {"last-block", LastBlock},
                                  {"off-by-one", OffByOne},
                                  {"wrong-stride", WrongStride},
                                  {"transposed", Transposed},
                                  {"half-accumulate", HalfAccumulate}};

}  // namespace

bool Spoil(const std::string& mutant, const WorkloadTask& workload, const Inputs& inputs,
           const TensorTask& output, std::vector<double>* values) {
  for (const NamedFault& fault : kFaults) {
    if (mutant != fault.name) continue;
    fault.spoil({workload, inputs, output, *values});
    return true;
  }
  return false;
}

}  // namespace kb::test::internal
