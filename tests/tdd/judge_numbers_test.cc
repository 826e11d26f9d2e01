// The judge's numbers, draws and comparisons, in this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tdd/judge/compare.h"
#include "tdd/judge/draw.h"
#include "tdd/judge/numbers.h"

void Reference(const kb::test::Inputs&, kb::test::Outputs&) {}

namespace kb::test::internal {
namespace {

using ::testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const Format& Of(const char* name) { return *FindFormat(name); }

struct Rounding {
  const char* format;
  double from, to;
};
constexpr Rounding kRoundings[] = {
    {"f32", 0.1, 0.1f},
    {"f32", 1e39, kInfinity},
    {"bf16", 1 + 0x1p-8, 1},  // a tie goes to even ...
    {"bf16", 1 + 3 * 0x1p-8, 1 + 0x1p-6},
    {"bf16", 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7},  // ... and is none when seen from double
    {"bf16", -3.14159, -3.140625},
    {"bf16", 0x1.FEp127, 0x1.FEp127},
    {"bf16", 0x1.FFp127, kInfinity},
    {"bf16", 0x1p-133, 0x1p-133},  // the least subnormal
    {"bf16", 0x1p-134, 0},
    {"bf16", -kInfinity, -kInfinity},
    {"f16", 65504, 65504},
    {"f16", 65519.99, 65504},
    {"f16", 65520, kInfinity},
    {"f16", 0x1p-24, 0x1p-24},
    {"f16", 0x1p-25, 0},
    {"f16", 1.5 * 0x1p-24, 0x1p-23},
    {"f16", 2049, 2048},
    {"f16", 2051, 2052},
    {"i32", 2.5, 2},
    {"i32", 3.5, 4},
    {"i32", 1e10, 2147483647},
    {"u8", -1, 0},
    {"u8", 255.7, 255},
    {"i8", -128.4, -128},
    {"u32", 4294967295.0, 4294967295.0},
    {"i64", -0x1p63, -0x1p63},
    {"i32", kNan, 0},
};

TEST(Round, GoesToTheNearestAndFromATieToEven) {
  for (const Rounding& r : kRoundings) {
    EXPECT_EQ(Round(Of(r.format), r.from), r.to) << r.format << " " << r.from;
    if (!Of(r.format).floating) continue;
    EXPECT_EQ(Round(Of(r.format), -r.from), -r.to) << r.format << " " << -r.from;
  }
  for (const char* name : {"f64", "f32", "f16", "bf16"}) {
    EXPECT_TRUE(std::isnan(Round(Of(name), kNan))) << name;
    EXPECT_TRUE(std::signbit(Round(Of(name), -0.0))) << name;
  }
}

TEST(Decode, GivesBackAllValuesOfTheShortFormats) {
  for (const char* name : {"f16", "bf16"}) {
    for (int bits = 0; bits < 0x10000; ++bits) {
      const std::array<char, 2> bytes = {static_cast<char>(bits), static_cast<char>(bits >> 8)};
      double value = 0;
      Decode(Of(name), bytes.data(), 1, &value);
      if (std::isnan(value)) continue;
      std::array<char, 2> again = {};
      Encode(Of(name), &value, 1, again.data());
      ASSERT_EQ(again, bytes) << name << " " << bits;
      ASSERT_EQ(Round(Of(name), value), value) << name << " " << bits;
    }
  }
}

TEST(Decode, KnowsValuesThatOthersHaveWritten) {
  struct Known {
    const char* format;
    uint64_t bits;
    double value;
  };
  constexpr Known kKnown[] = {{"f16", 0x3C00, 1},
                              {"f16", 0xC000, -2},
                              {"f16", 0x3555, 0.333251953125},
                              {"f16", 0x0001, 0x1p-24},
                              {"f16", 0x7C00, kInfinity},
                              {"bf16", 0x3F80, 1},
                              {"bf16", 0xC0A0, -5},
                              {"bf16", 0x4049, 3.140625},
                              {"f32", 0x3F800000, 1},
                              {"i8", 0xFF, -1},
                              {"u8", 0xFF, 255},
                              {"i32", 0x80000000, -2147483648.0},
                              {"u32", 0x80000000, 2147483648.0},
                              {"i64", 0xFFFFFFFFFFFFFFFE, -2},
                              {"f64", 0x4000000000000000, 2}};
  for (const Known& known : kKnown) {
    std::array<char, 8> bytes = {}, again = {};
    std::memcpy(bytes.data(), &known.bits, 8);
    double value = 0;
    Decode(Of(known.format), bytes.data(), 1, &value);
    EXPECT_EQ(value, known.value) << known.format;
    Encode(Of(known.format), &value, 1, again.data());
    EXPECT_EQ(std::memcmp(again.data(), bytes.data(), static_cast<size_t>(Of(known.format).bytes)),
              0)
        << known.format;
  }
}

TEST(UlpDistance, CountsTheStepsBetween) {
  EXPECT_EQ(UlpDistance(Of("f32"), 1, std::nextafterf(1, 2)), 1);
  EXPECT_EQ(UlpDistance(Of("bf16"), 1, 1 + 0x1p-7), 1);
  EXPECT_EQ(UlpDistance(Of("bf16"), 1, 2), 128);
  EXPECT_EQ(UlpDistance(Of("f16"), -0x1p-24, 0x1p-24), 2);
  EXPECT_EQ(UlpDistance(Of("f64"), 1, 1 + 0x1p-52), 1);
  EXPECT_EQ(UlpDistance(Of("i32"), -3, 4), 7);
}

TEST(Poison, IsNoNumberWhereThereAreSuch) {
  for (const char* name : {"f64", "f32", "f16", "bf16"}) {
    EXPECT_TRUE(std::isnan(Poison(Of(name)))) << name;
  }
  EXPECT_EQ(Poison(Of("i32")), -1);
  EXPECT_EQ(Poison(Of("u8")), 255);
}

std::vector<double> Drawn(const Filling& filling, uint64_t key, int64_t n) {
  std::vector<double> values(static_cast<size_t>(n));
  Draw(filling, key, 0, n, values.data());
  return values;
}
double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

TEST(Draw, HasTheDistributionThatIsAskedFor) {
  const std::vector<double> normal = Drawn(Normal(3, 2), 1, 100000);
  double squares = 0;
  int within = 0;
  for (double x : normal) {
    squares += (x - 3) * (x - 3);
    within += std::fabs(x - 3) < 2 ? 1 : 0;
  }
  EXPECT_NEAR(Mean(normal), 3, 0.03);
  EXPECT_NEAR(std::sqrt(squares / 100000), 2, 0.03);
  EXPECT_NEAR(within, 68269, 700);
  const std::vector<double> uniform = Drawn(Uniform(-1, 3), 2, 100000);
  EXPECT_NEAR(Mean(uniform), 1, 0.02);
  EXPECT_GE(*std::ranges::min_element(uniform), -1);
  EXPECT_LE(*std::ranges::max_element(uniform), 3);
  int counts[3] = {};
  for (double x : Drawn(Integers(-1, 1), 3, 30000)) ++counts[static_cast<int>(x) + 1];
  for (int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Draw, DependsOnKeyAndPlaceAlone) {
  for (const Filling& filling : {Normal(0, 1), Uniform(0, 1), Integers(0, 1000000)}) {
    const std::vector<double> whole = Drawn(filling, 7, 1001);
    std::vector<double> tail(501);
    Draw(filling, 7, 500, 501, tail.data());
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), whole.begin() + 500));
    EXPECT_NE(Drawn(filling, 8, 1001), whole);
  }
  EXPECT_NE(KeyOf(1, 2, 3), KeyOf(1, 3, 2));
  EXPECT_NE(KeyOf(1, 2, 3), KeyOf(2, 2, 3));
}

TEST(ParallelFor, CallsEachIndexOnceAndPassesOnAnException) {
  std::vector<int> calls(100003);
  ParallelFor(100003, [&](int64_t i) { ++calls[i]; });
  EXPECT_EQ(std::count(calls.begin(), calls.end(), 1), 100003);
  std::vector<int> inner(64 * 64);
  ParallelFor(64, [&](int64_t i) { ParallelFor(64, [&](int64_t j) { ++inner[i * 64 + j]; }); });
  EXPECT_EQ(std::count(inner.begin(), inner.end(), 1), 64 * 64);
  EXPECT_THROW(ParallelFor(1000,
                           [](int64_t i) {
                             if (i == 77) throw std::runtime_error("x");
                           }),
               std::runtime_error);
  int after = 0;
  ParallelFor(1, [&](int64_t) { ++after; });
  ParallelFor(0, [&](int64_t) { ++after; });
  EXPECT_EQ(after, 1);
}

TEST(MatMul, IsTheProductOfOddShapesToo) {
  for (const MatMulShape& shape : {MatMulShape{1, 1, 1}, MatMulShape{5, 33, 300, true},
                                   MatMulShape{67, 31, 17}, MatMulShape{8, 64, 513, true}}) {
    const auto [m, n, k, transposed] = shape;
    const std::vector<double> a = Drawn(Normal(0, 1), 1, m * k), b = Drawn(Normal(0, 1), 2, k * n);
    std::vector<double> c(m * n), magnitude(m * n);
    MatMul(shape, a, b, &c, &magnitude);
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = 0, absolute = 0;
      for (int64_t j = 0; j < k; ++j) {
        const double term = a[i / n * k + j] * (transposed ? b[i % n * k + j] : b[j * n + i % n]);
        sum += term;
        absolute += std::fabs(term);
      }
      ASSERT_NEAR(c[i], sum, 1e-12 * absolute);
      ASSERT_NEAR(magnitude[i], absolute, 1e-12 * absolute);
    }
    half_accumulate = true;
    std::vector<double> half(m * n);
    MatMul(shape, a, b, &half);
    half_accumulate = false;
    for (double x : half) ASSERT_EQ(x, RoundToHalf(x));
  }
}

TEST(Compare, LetsOnlyWhatIsWithinPass) {
  const std::vector<double> want = {1, -2, 0, 1000};
  const Allowed allowed = {0.01, 0.1, 0};
  Difference d = Compare(Of("f32"), allowed, want, nullptr, {1.1, -2.2, 0.009, 900});
  EXPECT_TRUE(d.passed());
  EXPECT_EQ(d.worst, 3);
  EXPECT_EQ(d.max_abs, 100);
  d = Compare(Of("f32"), allowed, want, nullptr, {1.1, -2.2, 0.02, 900});
  EXPECT_EQ(d.matched, 3);
  EXPECT_EQ(d.worst, 2);  // twice its tolerance, the others less than once
  EXPECT_EQ(d.got, 0.02);
  EXPECT_EQ(Compare(Of("f32"), {}, want, nullptr, want).worst, -1);
}

TEST(Compare, AddsTheSlackOfLongSums) {
  const std::vector<double> want = {0}, magnitude = {1000};
  EXPECT_TRUE(Compare(Of("f32"), {0, 0, 1e-6}, want, &magnitude, {1e-3}).passed());
  EXPECT_FALSE(Compare(Of("f32"), {0, 0, 1e-6}, want, &magnitude, {1.1e-3}).passed());
}

TEST(Compare, NeverLetsNaNPassUnlessItIsRight) {
  const Allowed lax = {1e300, 1e300, 0};
  Difference d = Compare(Of("f32"), lax, {1, 2, 3}, nullptr, {1, kNan, -kInfinity});
  EXPECT_EQ(d.matched, 1);
  EXPECT_EQ(d.nonfinite, 2);
  EXPECT_EQ(d.worst, 1);
  EXPECT_TRUE(std::isnan(d.got));
  EXPECT_TRUE(Compare(Of("f32"), lax, {kNan, kInfinity}, nullptr, {kNan, kInfinity}).passed());
  EXPECT_FALSE(Compare(Of("f32"), lax, {kNan}, nullptr, {1}).passed());
  EXPECT_FALSE(Compare(Of("f32"), lax, {kInfinity}, nullptr, {-kInfinity}).passed());
  EXPECT_TRUE(Compare(Of("f16"), {}, {1e6}, nullptr, {kInfinity}).passed());  // as f16 has it
}

TEST(Describe, SaysWhereInTheTensor) {
  std::vector<double> want(6), got(6);
  got[4] = 0.5;
  const Difference d = Compare(Of("f32"), {}, want, nullptr, got);
  EXPECT_THAT(Describe("y", {2, 3}, d), HasSubstr("y[1, 1] is 0.5, not 0"));
  EXPECT_EQ(CompareLine(2, "y", d).substr(0, 12), "compare 2 y ");
}

}  // namespace
}  // namespace kb::test::internal
