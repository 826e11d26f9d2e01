// Element types as the judge sees them: bytes to double and back. Rounds to nearest, ties to
// even, in one step from double; overflow becomes infinity, integers saturate.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "tdd/dtype.h"

namespace kb::test::internal {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Format {
  Dtype dtype;
  const char* name;  // as in case.yaml
  int bytes;
  bool floating;
  double lowest, highest;  // finite
};

[[nodiscard]] const Format* FindFormat(std::string_view name);  // null: unknown

// The nearest value of the format. Integers: NaN becomes 0.
[[nodiscard]] double Round(const Format& format, double x);
void RoundAll(const Format& format, double* values, int64_t n);
// Little-endian bytes of values, each rounded first.
void Encode(const Format& format, const double* values, int64_t n, char* bytes);
void Decode(const Format& format, const char* bytes, int64_t n, double* values);

// How many steps of the format lie between the two, both rounded to it. Not for NaN.
[[nodiscard]] double UlpDistance(const Format& format, double a, double b);

// The value that an element reads as if no byte of it was written (all bytes 0xFF).
[[nodiscard]] double Poison(const Format& format);

}  // namespace kb::test::internal
