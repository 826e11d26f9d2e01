#include "tdd/judge/draw.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace kb::test::internal {
namespace {

// SplitMix64's finalizer (Stafford's variant 13).
uint64_t Mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

uint64_t Bits(uint64_t key, int64_t at) {
  return Mix(key + (static_cast<uint64_t>(at) + 1) * 0x9E3779B97F4A7C15u);
}

double ToUnit(uint64_t bits) {  // in (0, 1)
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// Box and Muller: two uniform numbers make two normal ones.
void DrawNormal(const Filling& filling, uint64_t key, int64_t begin, int64_t n, double* values) {
  for (int64_t i = 0; i < n; i += 2) {
    double radius = filling.b * std::sqrt(-2 * std::log(ToUnit(Bits(key, begin + i))));
    double angle = 2 * std::numbers::pi * ToUnit(Bits(key, begin + i + 1));
    values[i] = filling.a + radius * std::cos(angle);
    if (i + 1 < n) values[i + 1] = filling.a + radius * std::sin(angle);
  }
}

void DrawIntegers(const Filling& filling, uint64_t key, int64_t begin, int64_t n, double* values) {
  auto count = static_cast<uint64_t>(std::floor(filling.b) - std::ceil(filling.a)) + 1;
  for (int64_t i = 0; i < n; ++i) {
    auto product = static_cast<unsigned __int128>(Bits(key, begin + i)) * count;
    values[i] = std::ceil(filling.a) + static_cast<double>(static_cast<uint64_t>(product >> 64));
  }
}

}  // namespace

uint64_t KeyOf(uint64_t seed, uint64_t run, uint64_t tensor) {
  return Mix(Mix(Mix(seed + 0x632BE59BD9B4E019u) ^ run) + tensor * 0x9E3779B97F4A7C15u);
}

void Draw(const Filling& filling, uint64_t key, int64_t begin, int64_t n, double* values) {
  switch (filling.kind) {
    case Filling::Kind::kNormal:
      return DrawNormal(filling, key, begin, n, values);
    case Filling::Kind::kUniform:
      for (int64_t i = 0; i < n; ++i) {
        values[i] = filling.a + (filling.b - filling.a) * ToUnit(Bits(key, begin + i));
      }
      return;
    case Filling::Kind::kIntegers:
      return DrawIntegers(filling, key, begin, n, values);
    case Filling::Kind::kEach:
      for (int64_t i = 0; i < n; ++i) values[i] = filling.each(begin + i);
      return;
  }
}

}  // namespace kb::test::internal

namespace kb::test {

Filling Normal(double mean, double standard_deviation) {
  return {Filling::Kind::kNormal, mean, standard_deviation, nullptr};
}
Filling Uniform(double lowest, double highest) {
  return {Filling::Kind::kUniform, lowest, highest, nullptr};
}
Filling Integers(double lowest, double highest) {
  return {Filling::Kind::kIntegers, lowest, highest, nullptr};
}
Filling Each(std::function<double(int64_t index)> value) {
  return {Filling::Kind::kEach, 0, 0, std::move(value)};
}
Filling Constant(double value) {
  return Each([value](int64_t) { return value; });
}
Filling Values(std::vector<double> values) {
  return Each([values = std::move(values)](int64_t i) {
    return values.empty() ? 0 : values[static_cast<size_t>(i) % values.size()];
  });
}

}  // namespace kb::test
