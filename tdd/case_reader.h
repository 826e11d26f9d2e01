// The sections of case.yaml, for LoadCase alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tdd/case.h"
#include "tdd/spec_reader.h"

namespace kb {

inline constexpr int64_t kMaxElements = int64_t{1} << 40;     // of one tensor
inline constexpr int64_t kMaxCheckBytes = int64_t{64} << 20;  // of all check workloads together
inline constexpr int64_t kMaxTimeBytes = int64_t{64} << 30;   // of one timed workload
inline constexpr int64_t kUsualCheckElements = int64_t{2} << 20;

// inputs, outputs and tolerances. `names`: axes and constants.
void ReadTensors(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                 Case* value);
// workloads: check and time, each with all axes.
void ReadWorkloads(const Value& file, SpecReader& reader, const Axes& constants, Case* value);

// The size of all tensors of a workload. `why`: what cannot be worked out, or "".
struct WorkloadSize {
  int64_t elements = 0, bytes = 0;
  std::string why;
};
[[nodiscard]] WorkloadSize MeasureWorkload(const Case& value, const Workload& workload);

// reference.cc and test.cc may include "kb/case_test.h" and system headers alone: the case's
// sha256 covers no other file.
void CheckIncludes(std::string_view source, const std::string& path, SpecReader& reader);

}  // namespace kb
