#include "tdd/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tdd/measure_fakes.h"

namespace kb {
namespace {

using test::CopyCase;
using testing::HasSubstr;

// As measured on an H200.
const Peaks kPeaks = {4.17e12, 7.82e14, "copy of 2 GiB; cuBLAS 8192"};
constexpr int64_t kL2 = 60 << 20;

TEST(RooflineOf, IsTheSlowerOfMemoryAndCompute) {
  const Required axpy = {3 * (int64_t{4} << 26), 2 << 26, int64_t{4} << 26, 0};
  EXPECT_NEAR(RooflineOf(axpy, "f32", kPeaks).time_us, 193.1, 0.1);
  EXPECT_FALSE(RooflineOf(axpy, "f32", kPeaks).compute_known) << "no peak of f32 is measured";
  const int64_t n = 8192;
  const Required gemm = {3 * n * n * 2, 2 * n * n * n, n * n * 2, 0};
  EXPECT_NEAR(RooflineOf(gemm, "bf16", kPeaks).time_us, 1406.0, 1);
  EXPECT_TRUE(RooflineOf(gemm, "bf16", kPeaks).compute_bound);
  EXPECT_TRUE(RooflineOf(gemm, "f16", kPeaks).compute_bound) << "the same tensor cores";
  EXPECT_FALSE(RooflineOf(gemm, "", kPeaks).compute_bound);
  EXPECT_EQ(RooflineOf(axpy, "f32", {}).time_us, 0) << "no peak";
}

TEST(SolScore, IsHalfAtTheBaselineAndOneAtTheRoofline) {
  EXPECT_EQ(SolScore(100, 50, 100), 0.5);
  EXPECT_EQ(SolScore(50, 50, 100), 1.0);
  EXPECT_NEAR(*SolScore(75, 50, 100), 2.0 / 3, 1e-12);
  EXPECT_EQ(SolScore(75, 50, 50), std::nullopt);
  EXPECT_EQ(SolScore(75, 0, 50), std::nullopt);
}

TEST(FloorUs, LetsTheFastestHonestKernelsPass) {
  // y += a x over 2^26 floats ran at 187.8 us on an H200, faster than a copy of as many bytes.
  const Required axpy = {3 * (int64_t{4} << 26), 0, int64_t{4} << 26, 3 * (int64_t{4} << 26)};
  EXPECT_LT(FloorUs(axpy, "", kPeaks, kL2, true), 187.8);
  EXPECT_GT(FloorUs(axpy, "", kPeaks, kL2, true), 150);
  // In L2 all of it may be faster than memory, but not without end.
  const Required small = {12 << 20, 0, 4 << 20, 12 << 20};
  EXPECT_LT(FloorUs(small, "", kPeaks, kL2, false), 1);
  EXPECT_GT(FloorUs(small, "", kPeaks, kL2, false), 0.3);
  EXPECT_GT(FloorUs(small, "", kPeaks, kL2, true), FloorUs(small, "", kPeaks, kL2, false));
  // Data larger than L2 must come from memory for the most part, warm or cold.
  EXPECT_GT(FloorUs(axpy, "", kPeaks, kL2, false), 150);
}

std::vector<Measurement> Timed(double us, bool cold) {
  Measurement m;
  m.workload = "67108864";
  m.axes = {{"n", 1 << 26}};
  m.cold_l2 = cold;
  m.rounds = {{240, 240, 240, 240}, {us, us, us, us}, {2}};
  m.baseline = {240, {239, 241}, 0.001};
  m.candidate = {us, {us, us}, 0.001};
  return {m};
}

TEST(ProvePlausible, ATimeBelowTheFloorIsAHack) {
  Environment environment;
  environment.l2_bytes = kL2;
  const Case copy = CopyCase({1 << 26});
  const struct {
    double us;
    const char* verdict;
  } cases[] = {{135, "PASSED"},
               {125, "PASSED"},
               {95, "REWARD_HACK(impossible-time)"},
               {1.3, "REWARD_HACK(impossible-time)"}};
  for (const bool cold : {true, false}) {
    for (const auto& c : cases) {
      const StageReport report = ProvePlausible(copy, Timed(c.us, cold), kPeaks, environment);
      EXPECT_EQ(VerdictName(report.verdict), c.verdict) << c.us << (cold ? " cold" : " warm");
    }
  }
}

TEST(ProvePlausible, ATenthOfImpossibleCallsIsEnough) {
  std::vector<Measurement> measurements = Timed(135, true);
  measurements[0].rounds.candidate = {135, 135, 135, 135, 135, 135, 2, 2};
  const StageReport report = ProvePlausible(CopyCase({1 << 26}), measurements, kPeaks, {});
  EXPECT_EQ(VerdictName(report.verdict), "REWARD_HACK(impossible-time)");
  EXPECT_THAT(report.verdict.message, HasSubstr("2.000 us is below"));
}

TEST(ProvePlausible, SaysWhichPeaksAreKnown) {
  Case copy = CopyCase({1 << 26});
  copy.flops = *Expression::Parse("n");
  copy.flop_dtype = "f32";
  const StageReport report = ProvePlausible(copy, Timed(140, true), kPeaks, {});
  EXPECT_TRUE(report.verdict.passed()) << report.verdict.message;
  EXPECT_THAT(report.detail["compute_peak"].AsString(), HasSubstr("not known"));
  const Value& line = report.detail["times"].AsList()[0];
  EXPECT_NEAR(line["percent_of_roofline"].AsDouble(), 100 * 128.74 / 140, 0.1);
  EXPECT_NEAR(line["sol_score"].AsDouble(), 1 / (1 + (140 - 128.74) / (240 - 128.74)), 1e-3);
  EXPECT_EQ(line["bound"].AsString(), "memory");
}

TEST(ProvePlausible, ANegativeRequirementIsTheCasesFault) {
  Case copy = CopyCase({1 << 26});
  copy.bytes = *Expression::Parse("-n");
  EXPECT_EQ(VerdictName(ProvePlausible(copy, Timed(140, true), kPeaks, {}).verdict),
            "INVALID_CASE");
}

}  // namespace
}  // namespace kb
