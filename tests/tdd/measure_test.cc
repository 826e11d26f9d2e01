#include "tdd/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "kb/json.h"
#include "tests/tdd/measure_fakes.h"

namespace kb {
namespace {

using test::CopyCandidate;
using test::CopyCase;
using test::FakeJudge;
using test::FakeRunner;
using testing::HasSubstr;

class Measure : public testing::Test {
 protected:
  Measured Run(CandidateKind kind = CandidateKind::kDevice) {
    candidate_ = CopyCandidate("wide", kind);
    options_.temp = testing::TempDir();
    judge_.drawn_for.clear();  // each run has a session of its own
    judge_.checked_sets.clear();
    runner_.requests.clear();
    options_.now = [this] { return runner_.now; };
    return ProveMeasure(case_, {0, &baseline_}, {candidate_program_, &candidate_}, runner_, judge_,
                        peaks_, options_);
  }

  Case case_ = CopyCase();
  Candidate baseline_ = CopyCandidate("naive"), candidate_;
  int candidate_program_ = 1;
  std::optional<Peaks> peaks_ = Peaks{4e12, 8e14, "fake"};
  FakeRunner runner_;
  FakeJudge judge_;
  MeasureOptions options_;
};

TEST_F(Measure, FindsTheRatioWithColdAndWarmCaches) {
  const Measured measured = Run();
  ASSERT_TRUE(measured.report.verdict.passed()) << measured.report.verdict.message;
  ASSERT_EQ(measured.measurements.size(), 2u);
  EXPECT_TRUE(measured.measurements[0].cold_l2);
  EXPECT_FALSE(measured.measurements[1].cold_l2);
  for (const Measurement& m : measured.measurements) {
    EXPECT_NEAR(m.ratio.value, 1.25, 0.002);
    EXPECT_TRUE(m.ratio.ci95.Contains(1.25));
    EXPECT_EQ(m.stopped_by, "precision");
    EXPECT_EQ(m.rounds.rounds(), 100u) << "4 batches of 25";
    EXPECT_GE(m.checked, 1);
    EXPECT_NEAR(m.candidate_joules, 0.05, 1e-6);
  }
}

TEST_F(Measure, WritesWhatThePageReads) {
  const Measured measured = Run();
  std::string why;
  const std::optional<Value> list = ParseJson(WriteJson(measured.report.detail), &why);
  ASSERT_TRUE(list) << why;
  EXPECT_EQ(*list, measured.report.detail);
  const Value& item = list->AsList()[0];
  const char* keys[] = {"workload",
                        "unit",
                        "cold_l2",
                        "rounds",
                        "dropped",
                        "stopped_by",
                        "baseline",
                        "candidate",
                        "ratio",
                        "faster",
                        "percent_of_roofline",
                        "bound",
                        "bytes_per_s",
                        "flops_per_s",
                        "energy_j",
                        "checked",
                        "conditions"};
  ASSERT_EQ(item.AsMap().size(), std::size(keys));
  for (size_t i = 0; i < std::size(keys); ++i) EXPECT_EQ(item.AsMap()[i].first, keys[i]);
  EXPECT_EQ(item["unit"].AsString(), "us");
  EXPECT_EQ(item["baseline"]["id"].AsString(), "naive");
  EXPECT_EQ(item["candidate"]["id"].AsString(), "wide");
  EXPECT_TRUE(item["faster"].AsBool());
  EXPECT_EQ(item["bound"].AsString(), "memory");
  EXPECT_NEAR(item["percent_of_roofline"].AsDouble(), 100 * 8 * 1048576 / 4e12 / 100e-6, 0.1);
  EXPECT_TRUE(item["flops_per_s"].IsNull());
  EXPECT_EQ(item["candidate"]["samples"].AsList().size(), 200u);
  EXPECT_EQ(item["candidate"]["ci95"].AsList().size(), 2u);
  for (const Value& sample : item["candidate"]["samples"].AsList()) {
    EXPECT_NEAR(sample.AsDouble() * 1000, std::round(sample.AsDouble() * 1000), 1e-6);
  }
  EXPECT_EQ(item["conditions"]["first_batch"]["sm_mhz"].AsInt(), 1980);
}

TEST_F(Measure, ABaselineAgainstItselfIsNeitherFasterNorSlower) {
  candidate_program_ = 0;
  const Measured measured = Run();
  ASSERT_TRUE(measured.report.verdict.passed());
  const Value& item = measured.report.detail.AsList()[0];
  EXPECT_TRUE(item["faster"].IsNull());
  EXPECT_NEAR(item["ratio"]["median"].AsDouble(), 1, 0.002);
}

TEST_F(Measure, ASlowerCandidateIsNotFaster) {
  runner_.candidate_us = 150;
  const Measured measured = Run();
  EXPECT_TRUE(measured.report.detail.AsList()[0]["faster"].IsBool());
  EXPECT_FALSE(measured.report.detail.AsList()[0]["faster"].AsBool(true));
}

TEST_F(Measure, EachWorkloadHasInputsOfItsOwn) {
  case_ = CopyCase({1 << 20, 1 << 26});
  options_.input_bytes = int64_t{1} << 30;
  const Measured measured = Run();
  ASSERT_EQ(measured.measurements.size(), 4u);
  EXPECT_EQ(std::count(judge_.drawn_for.begin(), judge_.drawn_for.end(), 0), 8);
  EXPECT_EQ(std::count(judge_.drawn_for.begin(), judge_.drawn_for.end(), 1), 4) << "256 MiB each";
  for (const MeasureRequest& request : runner_.requests) {
    EXPECT_GE(request.input_folders.size(), 3u);
  }
}

TEST_F(Measure, ChecksCallsThatCannotBeForetold) {
  const auto checked = [this](uint64_t seed) {
    runner_ = FakeRunner();
    options_.seed = seed;
    EXPECT_TRUE(Run().report.verdict.passed());
    std::vector<int> rounds;
    for (const MeasureRequest& request : runner_.requests) {
      rounds.insert(rounds.end(), request.checked_rounds.begin(), request.checked_rounds.end());
    }
    return rounds;
  };
  EXPECT_EQ(checked(1), checked(1));
  EXPECT_NE(checked(1), checked(2));
  EXPECT_GE(judge_.checked_sets.size(), 8u);
}

TEST_F(Measure, AWrongOutputInATimedCallIsAHack) {
  judge_.wrong_from = 3;
  const Measured measured = Run();
  EXPECT_EQ(VerdictName(measured.report.verdict), "REWARD_HACK(timed-output)");
  EXPECT_THAT(measured.report.verdict.message, HasSubstr("y[7] is 0"));
  judge_ = FakeJudge();
  judge_.wrong_from = 1;
  judge_.wrong_as = Status::kInfraError;
  EXPECT_EQ(VerdictName(Run().report.verdict), "INFRA_ERROR") << "the judge's own fault";
}

TEST_F(Measure, AClockThatLiesIsAHackOfTheHostKindAlone) {
  runner_.lie = 3;  // longer than we waited
  EXPECT_EQ(VerdictName(Run(CandidateKind::kHost).report.verdict), "REWARD_HACK(timer)");
  EXPECT_EQ(VerdictName(Run().report.verdict), "INFRA_ERROR");
  runner_.lie = 1;
  runner_.worker_lie = 0.1;
  EXPECT_EQ(VerdictName(Run(CandidateKind::kHost).report.verdict), "REWARD_HACK(timer)");
  runner_.worker_lie = 100;
  EXPECT_EQ(VerdictName(Run(CandidateKind::kHost).report.verdict), "REWARD_HACK(timer)");
  runner_.worker_lie = 1;
  EXPECT_TRUE(Run(CandidateKind::kHost).report.verdict.passed());
}

TEST_F(Measure, TimesFarBelowWhatTheLoopForEnergyTakesAreAHack) {
  runner_.baseline_us = runner_.candidate_us = 2000;
  runner_.lie = 0.3;
  const Measured measured = Run(CandidateKind::kHost);
  EXPECT_EQ(VerdictName(measured.report.verdict), "REWARD_HACK(timer)");
  EXPECT_THAT(measured.report.verdict.message, HasSubstr("back to back"));
  runner_.lie = 1;
  EXPECT_TRUE(Run(CandidateKind::kHost).report.verdict.passed());
}

TEST_F(Measure, ThrottledRoundsAreDroppedAndCounted) {
  runner_.throttled_every = 5;
  const Measured measured = Run();
  ASSERT_TRUE(measured.report.verdict.passed());
  EXPECT_EQ(measured.measurements[0].dropped, 20);
  EXPECT_EQ(measured.measurements[0].rounds.rounds(), 80u);
  runner_.throttled_every = 1;
  EXPECT_EQ(VerdictName(Run().report.verdict), "INFRA_ERROR");
}

TEST_F(Measure, StopsAtTheBudgetOfRoundsAndOfTime) {
  runner_.noise = 0.2;
  EXPECT_EQ(Run().measurements[0].stopped_by, "rounds");
  EXPECT_EQ(runner_.requests.back().rounds, 25);
  runner_.baseline_us = runner_.candidate_us = 20000;  // 80 ms a round
  const Measured slow = Run();
  EXPECT_EQ(slow.measurements[0].stopped_by, "time");
  EXPECT_LT(slow.measurements[0].wall_s, 8);
  EXPECT_GE(slow.measurements[0].rounds.batches.size(), 3u) << "smaller batches, not fewer";
}

TEST_F(Measure, AFaultOfTheWorkerIsPassedOn) {
  runner_.verdict = {Status::kTimeoutRun, "", "no answer"};
  EXPECT_EQ(VerdictName(Run().report.verdict), "TIMEOUT_RUN");
  runner_.verdict = {};
  runner_.forgets_outputs = true;
  EXPECT_EQ(VerdictName(Run().report.verdict), "INFRA_ERROR");
}

TEST_F(Measure, InputsBeyondAllBoundsAreRefused) {
  case_ = CopyCase({int64_t{1} << 34});
  EXPECT_EQ(VerdictName(Run().report.verdict), "INVALID_CASE");
  EXPECT_TRUE(judge_.drawn_for.empty());
}

}  // namespace
}  // namespace kb
