// One run of a candidate on one workload with every number filled in: what goes to the worker.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kb/value.h"

namespace kb {

struct BufferPlan {
  enum class Role { kInput, kOutput, kWorkspace } role = Role::kInput;
  std::string name;
  int64_t bytes = 0;
  bool zero = false;  // workspaces: cleared before each run, inside the timed part
};

struct ArgPlan {
  std::string buffer;  // the pointer of this buffer ...
  std::string map;     // ... or this tensor map (128 bytes) ...
  std::string bytes;   // ... or these bytes, little-endian, 1 to 8 of them
};

struct TensorMapPlan {
  std::string name, buffer;
  int data_type = 0;  // CUtensorMapDataType
  std::vector<int64_t> dims, strides, box;
  int swizzle_bytes = 0;
};

struct LaunchPlan {
  std::string kernel;
  std::array<int64_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  int64_t shared_bytes = 0;
  std::vector<ArgPlan> args;
};

struct RunPlan {
  std::vector<BufferPlan> buffers;  // inputs, outputs in call order; then workspaces
  std::vector<TensorMapPlan> maps;
  std::vector<LaunchPlan> launches;  // device kind; host kind: empty
  std::vector<int64_t> axes;         // host kind: in the case's order
  std::vector<double> scalars;       // host kind: scalar inputs in order
};

// To and from the worker. FromValue: nullopt if the shape is wrong.
[[nodiscard]] Value ToValue(const RunPlan& plan);
[[nodiscard]] std::optional<RunPlan> RunPlanFromValue(const Value& value);

}  // namespace kb
