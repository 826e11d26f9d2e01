#include "tdd/news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tdd/record_fixture.h"

namespace kb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JudgeNewsTest : public test::RecordTest {
 protected:
  News Judge(const Evaluation& evaluation, bool negative = false) const {
    return JudgeNews(case_, evaluation, FindEntries(nnk_, case_.name), negative);
  }
};

TEST_F(JudgeNewsTest, TheFirstFasterCandidateIsANewCase) {
  const News news = Judge(Evaluate(candidate_, {}));
  EXPECT_EQ(news.kind, NewsKind::kNewCase);
  EXPECT_TRUE(news.recordable());
  EXPECT_EQ(news.claim, ClaimKind::kFaster);
}

TEST_F(JudgeNewsTest, WhatIsNotFasterIsNoNews) {
  EXPECT_EQ(Judge(Evaluate(candidate_, {1.0005})).kind, NewsKind::kNone);
  EXPECT_THAT(Judge(Evaluate(candidate_, {0.9})).why, HasSubstr("not faster than naive"));
  Evaluation failed = Evaluate(candidate_, {});
  failed.verdict = {Status::kIncorrectNumerical, "", "wrong"};
  EXPECT_EQ(Judge(failed).kind, NewsKind::kNone);
  Evaluation emulated = Evaluate(candidate_, {});
  emulated.environment.Set("emulated", true);
  EXPECT_EQ(Judge(emulated).kind, NewsKind::kNone);
  Evaluation untimed = Evaluate(candidate_, {});
  untimed.stages.resize(3);
  EXPECT_EQ(Judge(untimed).kind, NewsKind::kNone);
}

TEST_F(JudgeNewsTest, TheBaselineMayBeTheFirstEntryButNoLaterOne) {
  const Candidate naive = Make("naive", "x: 1\n");
  const News first = Judge(Evaluate(naive, {1.0}));
  EXPECT_EQ(first.kind, NewsKind::kNewCase);
  EXPECT_EQ(first.claim, ClaimKind::kBaseline);
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {})).refused, "");
  EXPECT_EQ(Judge(Evaluate(naive, {1.0})).kind, NewsKind::kNone);
}

TEST_F(JudgeNewsTest, OnlyMoreThanTheNoiseOfBothIsFaster) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const Candidate other = Make("other", "x: 2\n");
  const struct {
    double ratio;
    NewsKind kind;
  } cases[] = {{1.30, NewsKind::kFaster},
               {1.2525, NewsKind::kFaster},
               {1.2515, NewsKind::kNone},
               {1.25, NewsKind::kNone},
               {1.1, NewsKind::kNone}};
  for (const auto& c : cases) {
    const News news = Judge(Evaluate(other, {c.ratio}));
    EXPECT_EQ(news.kind, c.kind) << c.ratio << ": " << news.why;
    EXPECT_THAT(news.why, HasSubstr("copy-wide"));
  }
  EXPECT_THAT(Judge(Evaluate(other, {1.3})).supersedes, ElementsAre("copy-wide"));
  EXPECT_THAT(Judge(Evaluate(other, {1.3})).related, IsEmpty());
}

TEST_F(JudgeNewsTest, AnotherGpuOrArchitectureIsANewScope) {
  candidate_.arch = "sm_90a";
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const Candidate other = Make("other", "x: 2\n");
  const News on_l4 = Judge(Evaluate(other, {1.1, 95, 0.001, "NVIDIA L4"}));
  EXPECT_EQ(on_l4.kind, NewsKind::kNewScope);
  EXPECT_THAT(on_l4.related, ElementsAre("copy-wide"));
  Evaluation wider = Evaluate(other, {1.1});
  EXPECT_EQ(Judge(wider).kind, NewsKind::kNone);
  wider.candidate_identity.Set("arch", ">=sm_80");
  EXPECT_EQ(Judge(wider).kind, NewsKind::kNewScope);
}

TEST_F(JudgeNewsTest, AnEntrysOwnCandidateIsNoNewsUnlessItNoLongerHolds) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const News again = Judge(Evaluate(candidate_, {1.2502}, "2026-12-01T12:00:00Z"));
  EXPECT_EQ(again.kind, NewsKind::kNone);
  EXPECT_EQ(again.entry, "copy-wide");
  EXPECT_THAT(again.why, HasSubstr("kb tdd prove"));
  const News slower = Judge(Evaluate(candidate_, {1.1}, "2026-12-01T12:00:00Z"));
  EXPECT_EQ(slower.kind, NewsKind::kRefutation);
  EXPECT_FALSE(slower.recordable()) << "it is evidence for the old entry";
  Evaluation failed = Evaluate(candidate_, {1.25}, "2026-12-01T12:00:00Z");
  failed.verdict = {Status::kRuntimeError, "", "illegal address"};
  EXPECT_EQ(Judge(failed).kind, NewsKind::kRefutation);
}

TEST_F(JudgeNewsTest, ThatItDoesNotHelpIsNewsIfAskedForAndShown) {
  EXPECT_EQ(Judge(Evaluate(candidate_, {1.005}), true).kind, NewsKind::kNegative);
  EXPECT_EQ(Judge(Evaluate(candidate_, {0.8}), true).claim, ClaimKind::kNegative);
  EXPECT_EQ(Judge(Evaluate(candidate_, {1.0095}), true).kind, NewsKind::kNone);
  EXPECT_EQ(Judge(Evaluate(candidate_, {1.0, 95, 0.02}), true).kind, NewsKind::kNone)
      << "too wide to say";
}

TEST_F(JudgeNewsTest, TheReportSaysWhat) {
  const StageReport report = NewsReport(Judge(Evaluate(candidate_, {})));
  EXPECT_EQ(report.name, "news");
  EXPECT_TRUE(report.verdict.passed());
  EXPECT_EQ(report.detail["kind"].AsString(), "new-case");
  EXPECT_EQ(report.detail["claim"].AsString(), "faster");
}

TEST(FindEntries, NothingIsThere) {
  EXPECT_THAT(FindEntries("/nonexistent/nnk", "").size(), 0u);
  EXPECT_FALSE(ReadEntry("/nonexistent/nnk/x"));
}

}  // namespace
}  // namespace kb
