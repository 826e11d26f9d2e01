// What kb asks of this judge: all that case.yaml says, with every number filled in. Comes as the
// first lines over the channel, so that no file holds the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tdd/case_test.h"
#include "tdd/judge/numbers.h"

namespace kb::test::internal {

struct TensorTask {
  std::string name;
  const Format* format = nullptr;
  Filling filling;  // inputs only
};

// |got - want| <= abs + rel * |want| + slack * magnitude.
struct Allowed {
  double abs = 0, rel = 0, slack = 0;
};

struct WorkloadTask {
  Workload workload;
  ByName<int64_t> axes;
  ByName<std::vector<int64_t>> shapes;  // of inputs and outputs
  ByName<Allowed> allowed;              // of outputs
};

struct Task {
  bool session = false;  // else: run the tests
  uint64_t seed = 0;
  std::string mutant;          // "": none; "reference": the right outputs, unspoilt
  std::string mutated_output;  // "": all
  bool first_failure = false;
  int trials = 1;
  std::string scratch;
  std::vector<TensorTask> inputs, outputs;
  ByName<double> scalars;
  std::vector<WorkloadTask> workloads;  // the check ones, or for a session the timed ones
  std::vector<Workload> public_workloads;
};

// Reads the lines up to "end"; a line that is not understood is a fault.
void ReadTask();
[[nodiscard]] const Task& TheTask();  // what was read

[[nodiscard]] int64_t CountOf(const WorkloadTask& workload, const std::string& tensor);

}  // namespace kb::test::internal
