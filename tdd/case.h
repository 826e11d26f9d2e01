// A case: what a kernel must do. `case.yaml` beside `reference.cc` (the answer in double, on the
// host) and `test.cc` (GoogleTest). Read here, never run. A folder of tdd/cases/ or any other.
#pragma once

#include <string>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/value.h"
#include "tdd/dtype.h"
#include "tdd/expression.h"

namespace kb {

// How an input's elements are drawn, fresh for each trial from a private seed.
struct Fill {
  enum class Kind { kNormal, kUniform, kIntegers } kind = Kind::kNormal;
  double a = 0;  // mean | lowest | lowest
  double b = 1;  // standard deviation | highest | highest (both ends included)
};

// An input or an output. Row-major, contiguous.
struct TensorSpec {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<Expression> shape;
  bool scalar = false;  // inputs only: `value`, the same for all workloads
  double value = 0;
  Fill fill;  // inputs only
};

// What an output may differ from the reference by:
//   |got - want| <= abs + rel * |want| + 2^-23 * sqrt(reduction) * magnitude,
// where magnitude is the sum of the absolute terms that the reference added up (0 if it gives
// none). NaN never passes. `rel` is by default one rounding step of the output's dtype.
struct Tolerance {
  std::string output;
  double abs = 0;
  double rel = 0;
  Expression reduction;  // 0: exact but for `abs` and `rel`
};

struct Workload {
  std::string label;  // "4096 x 1024": the axes' values in order
  Axes axes;          // with the case's constants
};

struct Case {
  std::string folder;                       // as given
  std::string name;                         // a-z 0-9 and hyphens, equal to the folder's name
  std::string title;                        // one line
  std::vector<std::string> axis_names;      // in order
  std::vector<TensorSpec> inputs, outputs;  // in call order
  std::vector<Tolerance> tolerances;        // one an output
  std::vector<Workload> check, time;        // workloads for green and red | for measure
  Expression bytes, flops;                  // required at least, by the definition of the problem
  std::string flop_dtype;                   // "bf16": which peak the flops count against; "" : none
  std::string baseline;                     // a folder of candidates/
  double red_threshold = 0.9;               // mutation score below it: WEAK_TEST
  bool deterministic = false;               // demanded
  std::string arch;                         // scope, e.g. ">=sm_80"; "" : any
  std::string sha256;                       // of case.yaml, reference.cc and test.cc
};

// Reads `folder`/case.yaml. Findings of severity error mean: not usable. Each has file and line
// and says how to mend it. Never throws because of content.
struct LoadedCase {
  Case value;
  Diagnostics diagnostics;
  [[nodiscard]] bool ok() const;
};
[[nodiscard]] LoadedCase LoadCase(const std::string& folder);

// The concrete shape, or nullopt with a reason (not an integer in 1..2^40 elements in all).
[[nodiscard]] std::optional<std::vector<int64_t>> ShapeOf(const TensorSpec& tensor,
                                                          const Axes& axes,
                                                          std::string* why = nullptr);
[[nodiscard]] std::optional<int64_t> BytesOf(const TensorSpec& tensor, const Axes& axes,
                                             std::string* why = nullptr);

}  // namespace kb
