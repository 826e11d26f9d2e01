#include "tdd/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace kb {
namespace {

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  const struct {
    std::vector<double> samples;
    double p, want;
  } cases[] = {{{}, 0.5, 0},         {{7}, 0.1, 7},          {{3, 1}, 0.5, 2},
               {{4, 1, 2, 3}, 0, 1}, {{4, 1, 2, 3}, 1, 4},   {{4, 1, 2, 3}, 0.5, 2.5},
               {{5, 1, 3}, 0.5, 3},  {{5, 1, 3}, 0.25, 2.0}, {{1, 1, 1, 9}, 0.9, 6.6}};
  for (const auto& c : cases) EXPECT_NEAR(Quantile(c.samples, c.p), c.want, 1e-12) << c.p;
  EXPECT_EQ(Median({9, 1, 5}), 5);
}

// How timed rounds come about: noise that remembers, spikes, drift that both programs share, an
// offset of the run and of each batch, and a clock with steps.
struct Machine {
  double truth = 1.25, candidate_us = 100, noise = 0.01, memory = 0.5, spikes = 0.05;
  double of_batch = 0, of_run = 0, shared_drift = 0, step_us = 0.032;
};

PairedRounds Simulate(const Machine& machine, size_t batches, size_t rounds, std::mt19937_64* rng) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  PairedRounds result;
  const double run = machine.of_run * normal(*rng);
  double memory = normal(*rng);
  const auto time = [&](double us) {
    const double spike = uniform(*rng) < machine.spikes ? 1.2 : 1;
    const double shifted = us * spike * (1 + machine.noise * 0.3 * normal(*rng));
    return std::round(shifted / machine.step_us) * machine.step_us;
  };
  for (size_t b = 0; b < batches; ++b) {
    const double batch = machine.of_batch * normal(*rng);
    for (size_t i = 0; i < rounds; ++i) {
      const double fresh = std::sqrt(1 - machine.memory * machine.memory);
      memory = machine.memory * memory + fresh * normal(*rng);
      const double drift = 1 + machine.shared_drift * static_cast<double>(b * rounds + i);
      const double ratio = machine.truth * (1 + run + batch + machine.noise * memory);
      for (int k = 0; k < 2; ++k) {
        result.baseline.push_back(time(machine.candidate_us * drift * ratio));
        result.candidate.push_back(time(machine.candidate_us * drift));
      }
    }
    result.batches.push_back(rounds);
  }
  return result;
}

int Covered(const Machine& machine, size_t batches, size_t rounds, int experiments,
            const RunToRun& other) {
  std::mt19937_64 rng(42);
  int covered = 0;
  for (int i = 0; i < experiments; ++i) {
    const PairedRounds sample = Simulate(machine, batches, rounds, &rng);
    covered += RatioOfMedians(sample, other).ci95.Contains(machine.truth) ? 1 : 0;
  }
  return covered;
}

TEST(RatioOfMedians, NinetyFivePercentCoversNinetyToNinetyNine) {
  const RunToRun none = {0, 0};
  const int covered = Covered({}, 4, 12, 500, none);
  EXPECT_GE(covered, 450);
  EXPECT_LE(covered, 495);
}

TEST(RatioOfMedians, CoversWhereRoundsRemember) {
  Machine machine;
  machine.memory = 0.8;
  EXPECT_GE(Covered(machine, 4, 25, 200, {0, 0}), 180);
}

TEST(RatioOfMedians, CoversBatchesThatDiffer) {
  Machine machine;
  machine.of_batch = 0.004;
  machine.memory = 0;
  EXPECT_GE(Covered(machine, 6, 10, 200, {0, 0}), 180);
}

TEST(RatioOfMedians, CoversTheRepeatInAnotherRun) {
  Machine machine;  // short and steady: the clock's step and the run decide
  machine.candidate_us = 12;
  machine.noise = 0.0005;
  machine.of_run = 0.001;
  machine.memory = 0;
  EXPECT_GE(Covered(machine, 4, 12, 200, {}), 190);
  EXPECT_LT(Covered(machine, 4, 12, 200, {0, 0}), 150) << "the step and drift are needed";
}

TEST(RatioOfMedians, DriftOfBothProgramsCancels) {
  Machine machine;
  machine.shared_drift = 0.002;  // 20 % over the 100 rounds
  machine.noise = 0.001;
  machine.spikes = 0;
  std::mt19937_64 rng(7);
  const MedianEstimate ratio = RatioOfMedians(Simulate(machine, 4, 25, &rng));
  EXPECT_NEAR(ratio.value, 1.25, 0.0025);
  EXPECT_TRUE(ratio.ci95.Contains(1.25));
  EXPECT_LT(ratio.ci95.high - ratio.ci95.low, 0.02);
}

TEST(RatioOfMedians, CorrelatedRoundsMakeWiderIntervals) {
  Machine calm, slow;
  calm.memory = 0;
  slow.memory = 0.9;
  const auto width = [](const Machine& machine) {
    std::mt19937_64 rng(3);
    double sum = 0;
    for (int i = 0; i < 20; ++i) sum += RatioOfMedians(Simulate(machine, 1, 100, &rng)).sampling;
    return sum;
  };
  EXPECT_GT(width(slow), 1.5 * width(calm));
}

TEST(RatioOfMedians, IsTheSameEachTimeAndHoldsItsValue) {
  std::mt19937_64 rng(5);
  const PairedRounds rounds = Simulate({}, 3, 10, &rng);
  const MedianEstimate a = RatioOfMedians(rounds), b = RatioOfMedians(rounds);
  EXPECT_EQ(a.ci95.low, b.ci95.low);
  EXPECT_EQ(a.ci95.high, b.ci95.high);
  EXPECT_DOUBLE_EQ(a.value, Median(rounds.baseline) / Median(rounds.candidate));
  EXPECT_TRUE(a.ci95.Contains(a.value));
}

TEST(RatioOfMedians, IdenticalSamplesStillHaveTheClocksWidth) {
  const PairedRounds rounds = {std::vector<double>(40, 10.0), std::vector<double>(40, 10.0), {20}};
  const MedianEstimate ratio = RatioOfMedians(rounds);
  EXPECT_EQ(ratio.value, 1);
  EXPECT_EQ(ratio.sampling, 0);
  EXPECT_NEAR(ratio.ci95.high - 1, 0.0032 * std::sqrt(2.0), 1e-4);
}

TEST(RatioOfMedians, WhatCannotBeJudgedHasNoWidth) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const PairedRounds bad[] = {{{}, {}, {}},
                              {{1, 1}, {1, 1}, {1}},
                              {{1, 1, 1, 1}, {1, 1}, {2}},
                              {{1, 1, 0, 1}, {1, 1, 1, 1}, {2}},
                              {{1, 1, 1, 1}, {1, nan, 1, 1}, {2}}};
  for (const PairedRounds& rounds : bad) {
    EXPECT_EQ(RatioOfMedians(rounds).ci95.low, 0);
    EXPECT_TRUE(std::isinf(RatioOfMedians(rounds).ci95.high));
  }
}

TEST(MedianOf, CoversTheMedian) {
  std::mt19937_64 rng(11);
  std::lognormal_distribution<double> skewed(3.0, 0.05);
  int covered = 0;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> samples(60);
    for (double& x : samples) x = skewed(rng);
    covered += MedianOf(samples, {10, 10, 10}, {0, 0}).ci95.Contains(std::exp(3.0)) ? 1 : 0;
  }
  EXPECT_GE(covered, 180);
}

}  // namespace
}  // namespace kb
