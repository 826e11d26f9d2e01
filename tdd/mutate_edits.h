// The faults that MutateSource plants, one function an operation. Of mutate.cc alone.
#pragma once

#include <string>
#include <vector>

#include "tdd/cuda_lexer.h"

namespace kb {

// `size` bytes from byte `at` become `now`. All within the source; may change nothing, may lose
// line ends.
struct Edit {
  const char* operation = "";
  size_t at = 0, size = 0;
  std::string now;
};
using Edits = std::vector<Edit>;

[[nodiscard]] Edits ArithmeticEdits(const CudaSource& source);    // + for -, * for +, min for max
[[nodiscard]] Edits ComparisonEdits(const CudaSource& source);    // <= for <, || for &&
[[nodiscard]] Edits ConstantEdits(const CudaSource& source);      // 1.0f for 0.0f, half an offset
[[nodiscard]] Edits GuardEdits(const CudaSource& source);         // if (true) for if (i < n)
[[nodiscard]] Edits ScaleEdits(const CudaSource& source);         // x for x * scale
[[nodiscard]] Edits SyncEdits(const CudaSource& source);          // no __syncthreads()
[[nodiscard]] Edits LoopEdits(const CudaSource& source);          // start, bound and step
[[nodiscard]] Edits AccumulatorEdits(const CudaSource& source);   // a float rounded at each +=
[[nodiscard]] Edits OffByOneEdits(const CudaSource& source);      // a[1 + i]
[[nodiscard]] Edits SwappedIndexEdits(const CudaSource& source);  // threadIdx.y for .x

// Replaces the tokens `first`..`last`.
[[nodiscard]] inline Edit Replace(const CudaSource& source, const char* operation, int first,
                                  int last, std::string now) {
  return {operation, source.tokens[first].at, source.Span(first, last).size(), std::move(now)};
}
// Puts `text` before token `i`.
[[nodiscard]] inline Edit Insert(const CudaSource& source, const char* operation, int i,
                                 std::string text) {
  return {operation, source.tokens[i].at, 0, std::move(text)};
}
// The last token of the operand that begins at `i`: a name with its members, indices and calls,
// a number, or what stands in round brackets. -1: none.
[[nodiscard]] int OperandEnd(const CudaSource& source, int i);

}  // namespace kb
