#include "tdd/judge/numbers.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tdd/case_test.h"

static_assert(std::endian::native == std::endian::little, "the judge is for little-endian CPUs");

namespace kb::test::internal {
namespace {

constexpr double kMaxF16 = 65504;
constexpr double kMaxBf16 = 0x1.FEp127;

template <class T>
constexpr Format IntegerFormat(Dtype dtype, const char* name) {
  using Limits = std::numeric_limits<T>;
  return {dtype,
          name,
          sizeof(T),
          false,
          static_cast<double>(Limits::min()),
          static_cast<double>(Limits::max())};
}
template <class T>
constexpr Format FloatFormat(Dtype dtype, const char* name) {
  constexpr double kMax = std::numeric_limits<T>::max();
  return {dtype, name, sizeof(T), true, -kMax, kMax};
}
constexpr Format kFormats[] = {FloatFormat<double>(Dtype::kF64, "f64"),
                               FloatFormat<float>(Dtype::kF32, "f32"),
                               {Dtype::kF16, "f16", 2, true, -kMaxF16, kMaxF16},
                               {Dtype::kBf16, "bf16", 2, true, -kMaxBf16, kMaxBf16},
                               IntegerFormat<int64_t>(Dtype::kI64, "i64"),
                               IntegerFormat<int32_t>(Dtype::kI32, "i32"),
                               IntegerFormat<uint32_t>(Dtype::kU32, "u32"),
                               IntegerFormat<int8_t>(Dtype::kI8, "i8"),
                               IntegerFormat<uint8_t>(Dtype::kU8, "u8")};

// Adding and taking away 1.5 * 2^52 steps leaves a whole number of steps: the FPU rounds.
// `min_exponent`: of the least normal value; below it the steps stay as wide.
template <int precision, int min_exponent>
double RoundBinary(double x, double highest) {
  auto bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
  if (exponent == 1024) return x;  // infinite or NaN
  if (exponent < min_exponent) exponent = min_exponent;
  auto step_bits = static_cast<uint64_t>(exponent - (precision - 1) + 1023) << 52;
  double shift = std::bit_cast<double>(step_bits) * 0x1.8p52;
  double rounded = (x + shift) - shift;
  if (std::fabs(rounded) > highest) rounded = kInfinity;
  return std::copysign(rounded, x);
}

double RoundInteger(const Format& format, double x) {
  if (std::isnan(x)) return 0;
  double whole = std::fabs(x) < 0x1p52 ? (x + 0x1.8p52) - 0x1.8p52 : x;
  return whole < format.lowest ? format.lowest : whole > format.highest ? format.highest : whole;
}

uint16_t HalfBits(double x) {  // of a value that f16 has
  auto sign = static_cast<uint16_t>(std::signbit(x) ? 0x8000 : 0);
  double size = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7E00;
  if (size > kMaxF16) return sign | 0x7C00;
  if (size < 0x1p-14) return static_cast<uint16_t>(sign | static_cast<int>(size * 0x1p24));
  auto bits = std::bit_cast<uint64_t>(size);
  return static_cast<uint16_t>(sign | ((bits >> 42) - (uint64_t{1023 - 15} << 10)));
}

double HalfValue(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  double size = exponent == 0 ? fraction * 0x1p-24
                : exponent == 31
                    ? (fraction == 0 ? kInfinity : std::nan(""))
                    : std::bit_cast<double>(static_cast<uint64_t>(exponent + 1008) << 52 |
                                            static_cast<uint64_t>(fraction) << 42);
  return (bits & 0x8000) != 0 ? -size : size;
}

template <class T>
void EncodeIntegers(const Format& format, const double* values, int64_t n, char* bytes) {
  for (int64_t i = 0; i < n; ++i) {
    double x = RoundInteger(format, values[i]);
    // The double nearest to the greatest i64 is one more than it.
    T whole = x >= format.highest ? std::numeric_limits<T>::max() : static_cast<T>(x);
    std::memcpy(bytes + i * sizeof(T), &whole, sizeof(T));
  }
}

template <class T>
void DecodeAs(const char* bytes, int64_t n, double* values) {
  for (int64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
}

template <class ToBits>
void EncodeHalves(const Format& format, const double* values, int64_t n, char* bytes,
                  ToBits to_bits) {
  for (int64_t i = 0; i < n; ++i) {
    uint16_t bits = to_bits(Round(format, values[i]));
    std::memcpy(bytes + 2 * i, &bits, 2);
  }
}

uint16_t Bf16Bits(double x) {  // of a value that bf16 has
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16);
}

}  // namespace

double RoundToHalf(double x) { return RoundBinary<11, -14>(x, kMaxF16); }

const Format* FindFormat(std::string_view name) {
  for (const Format& format : kFormats) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

double Round(const Format& format, double x) {
  switch (format.dtype) {
    case Dtype::kF64:
      return x;
    case Dtype::kF32:
      return static_cast<float>(x);
    case Dtype::kF16:
      return RoundToHalf(x);
    case Dtype::kBf16:
      return RoundBinary<8, -126>(x, kMaxBf16);
    default:
      return RoundInteger(format, x);
  }
}

void RoundAll(const Format& format, double* values, int64_t n) {
  for (int64_t i = 0; i < n; ++i) values[i] = Round(format, values[i]);
}

void Encode(const Format& format, const double* values, int64_t n, char* bytes) {
  switch (format.dtype) {
    case Dtype::kF64:
      std::memcpy(bytes, values, static_cast<size_t>(n) * 8);
      return;
    case Dtype::kF32:
      for (int64_t i = 0; i < n; ++i) {
        auto value = static_cast<float>(values[i]);
        std::memcpy(bytes + 4 * i, &value, 4);
      }
      return;
    case Dtype::kF16:
      return EncodeHalves(format, values, n, bytes, HalfBits);
    case Dtype::kBf16:
      return EncodeHalves(format, values, n, bytes, Bf16Bits);
    case Dtype::kI64:
      return EncodeIntegers<int64_t>(format, values, n, bytes);
    case Dtype::kI32:
      return EncodeIntegers<int32_t>(format, values, n, bytes);
    case Dtype::kU32:
      return EncodeIntegers<uint32_t>(format, values, n, bytes);
    case Dtype::kI8:
      return EncodeIntegers<int8_t>(format, values, n, bytes);
    case Dtype::kU8:
      return EncodeIntegers<uint8_t>(format, values, n, bytes);
  }
}

void Decode(const Format& format, const char* bytes, int64_t n, double* values) {
  switch (format.dtype) {
    case Dtype::kF64:
      return DecodeAs<double>(bytes, n, values);
    case Dtype::kF32:
      return DecodeAs<float>(bytes, n, values);
    case Dtype::kF16:
    case Dtype::kBf16:
      for (int64_t i = 0; i < n; ++i) {
        uint16_t bits;
        std::memcpy(&bits, bytes + 2 * i, 2);
        values[i] = format.dtype == Dtype::kF16
                        ? HalfValue(bits)
                        : std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
      }
      return;
    case Dtype::kI64:
      return DecodeAs<int64_t>(bytes, n, values);
    case Dtype::kI32:
      return DecodeAs<int32_t>(bytes, n, values);
    case Dtype::kU32:
      return DecodeAs<uint32_t>(bytes, n, values);
    case Dtype::kI8:
      return DecodeAs<int8_t>(bytes, n, values);
    case Dtype::kU8:
      return DecodeAs<uint8_t>(bytes, n, values);
  }
}

double UlpDistance(const Format& format, double a, double b) {
  a = Round(format, a);
  b = Round(format, b);
  if (!format.floating) return std::fabs(a - b);
  // The bits without the sign count the steps from zero.
  auto steps_from_zero = [&format](double x) {
    char bytes[8] = {};
    double size = std::fabs(x);
    Encode(format, &size, 1, bytes);
    uint64_t steps;
    std::memcpy(&steps, bytes, 8);
    return steps;
  };
  uint64_t steps_a = steps_from_zero(a), steps_b = steps_from_zero(b);
  if (std::signbit(a) != std::signbit(b)) {
    return static_cast<double>(steps_a) + static_cast<double>(steps_b);
  }
  return static_cast<double>(steps_a > steps_b ? steps_a - steps_b : steps_b - steps_a);
}

double Poison(const Format& format) {
  constexpr char kBytes[] = "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF";
  double value = 0;
  Decode(format, kBytes, 1, &value);
  return value;
}

}  // namespace kb::test::internal
