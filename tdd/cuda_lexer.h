// CUDA C++ as tokens, with what a planter of faults must know of each: whether it stands in a
// function's body, in a template's brackets, in a loop's header. No preprocessor: comments and
// directives are passed over. Any bytes are taken; work is linear in their number.
#pragma once

#include <string_view>
#include <vector>

namespace kb {

struct CudaToken {
  enum class Kind { kName, kNumber, kText, kMark };  // kText: string or character literal
  enum class Place { kPlain, kLoopInit, kLoopTest, kLoopStep, kWhileTest };
  Kind kind = Kind::kMark;
  Place place = Place::kPlain;  // kLoopStep also: what moves a `while` on, in its body
  std::string_view text;        // within the source
  size_t at = 0;                // byte offset
  int partner = -1;             // of ( [ { and a template's <: the other's index, and back
  bool angle = false;           // a template's bracket
  bool code = false;            // of a function's body; no declaration of shared memory, array
                                // bound, assertion, asm or template argument
  int loops = 0;                // bodies of loops around it
};

struct CudaLoop {  // indices of tokens, [begin, end)
  bool counted = false;
  int init_begin = 0, init_end = 0;  // `for` alone
  int test_begin = 0, test_end = 0;
  int step_begin = 0, step_end = 0;  // `for` alone
  int body_begin = 0, body_end = 0;
};

struct CudaSource {
  std::string_view text;  // kept by the caller
  std::vector<CudaToken> tokens;
  std::vector<CudaLoop> loops;  // `for` (no range-based one) and `while`, in order

  [[nodiscard]] int size() const { return static_cast<int>(tokens.size()); }
  // The text of token `i`, or "" where there is none.
  [[nodiscard]] std::string_view At(int i) const;
  [[nodiscard]] bool IsName(int i) const;
  [[nodiscard]] bool IsNumber(int i) const;
  // The bytes from token `first` up to the end of token `last`.
  [[nodiscard]] std::string_view Span(int first, int last) const;
  // The `;` that ends the statement in which `i` stands, brackets jumped over; -1: not within
  // 256 steps, or its brackets close first.
  [[nodiscard]] int StatementEnd(int i) const;
  [[nodiscard]] bool BeginsStatement(int i) const;
  // Token `i` is an operator between two operands: no sign, no star of a pointer.
  [[nodiscard]] bool IsBinary(int i) const;
};

// Reads the first MiB of `text`.
[[nodiscard]] CudaSource LexCuda(std::string_view text);

// "float", "size_t", "half2": a type by its name alone.
[[nodiscard]] bool IsTypeName(std::string_view name);

}  // namespace kb
