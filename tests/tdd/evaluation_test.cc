#include "tdd/evaluation.h"

#include <gtest/gtest.h>

#include "kb/evidence.h"
#include "kb/json.h"

namespace kb {
namespace {

Evaluation Sample() {
  Evaluation evaluation;
  evaluation.verdict = {Status::kRewardHack, "timer", "the sum is longer than the wait"};
  evaluation.stage = "measure";
  evaluation.case_identity = Value(Value::Map{{"name", "axpy"}, {"sha256", "ab"}});
  evaluation.candidate_identity = Value(Value::Map{{"id", "wide"}, {"kind", "device"}});
  evaluation.environment = Value(Value::Map{{"gpu", "NVIDIA H200"}});
  evaluation.created = "2026-11-30T12:00:00Z";
  evaluation.stages = {{"check", {}, 0.25, Value()},
                       {"green", {}, 1e-7, Value(Value::Map{{"trials", 3}})},
                       {"measure", evaluation.verdict, 2, Value(Value::List{Value(1.0)})}};
  return evaluation;
}

TEST(Evaluation, IsWrittenAndReadBackWhole) {
  const Value value = ToValue(Sample());
  EXPECT_EQ(value["status"].AsString(), "REWARD_HACK");
  EXPECT_EQ(value["kind"].AsString(), "timer");
  EXPECT_EQ(value["green"]["trials"].AsInt(), 3);
  EXPECT_FALSE(value.Has("check")) << "a stage without detail has no section";
  std::string why;
  const std::optional<Value> parsed = ParseJson(WriteJson(value, 1), &why);
  ASSERT_TRUE(parsed) << why;
  const std::optional<Evaluation> back = EvaluationFromValue(*parsed, &why);
  ASSERT_TRUE(back) << why;
  EXPECT_EQ(ToValue(*back), value);
  EXPECT_EQ(back->Find("measure")->verdict.kind, "timer");
  EXPECT_EQ(back->Find("news"), nullptr);
}

TEST(Evaluation, WhatIsNoEvaluationIsRefusedWithAReason) {
  const char* bad[] = {"null",
                       "[]",
                       R"({"kb": "evaluation/2", "status": "PASSED", "stages": []})",
                       R"({"kb": "evaluation/1", "status": "GOOD", "stages": []})",
                       R"({"kb": "evaluation/1", "status": "PASSED", "stages": 3})",
                       R"({"kb": "evaluation/1", "status": "PASSED", "stages": [{"name": "x"}]})",
                       R"({"kb": "evaluation/1", "status": "PASSED",
                           "stages": [{"name": "status", "status": "PASSED"}]})",
                       R"({"kb": "evaluation/1", "status": "PASSED", "stages":
                           [{"name": "a", "status": "PASSED"}, {"name": "a", "status": "PASSED"}]})"};
  for (const char* text : bad) {
    std::string why;
    EXPECT_FALSE(EvaluationFromValue(*ParseJson(text), &why)) << text;
    EXPECT_FALSE(why.empty()) << text;
  }
}

TEST(EvaluationId, IsThatOfTheContentButNotOfTheDate) {
  const Evaluation sample = Sample();
  Evaluation later = sample, other = sample;
  later.created = "2027-01-01T00:00:00Z";
  other.stages[2].detail = Value(Value::List{Value(1.5)});
  EXPECT_EQ(EvaluationId(sample).size(), 64u);
  EXPECT_EQ(EvaluationId(sample), EvaluationId(later));
  EXPECT_NE(EvaluationId(sample), EvaluationId(other));
  EXPECT_EQ(EvaluationId(sample), EvidenceDigest(*ParseJson(WriteJson(ToValue(sample), 2))));
}

}  // namespace
}  // namespace kb
