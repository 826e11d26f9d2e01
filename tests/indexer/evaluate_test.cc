#include "indexer/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/indexer/corpus.h"

namespace kb {
namespace {

TEST(ReadQuestions, TakesAllFormsOfExpected) {
  Diagnostics diagnostics;
  const std::vector<Question> questions = ReadQuestions(
      "{\"id\":\"a\",\"query\":\"q\",\"expected\":\"x\"}\n\n"
      "{\"id\":\"b\",\"query\":\"q\",\"expected\":null}\n"
      "{\"id\":\"c\",\"query\":\"q\",\"expected\":[\"x\",\"y\"]}\n"
      "{\"id\":\"d\",\"query\":\"q\",\"expected\":{\"x\":3,\"y\":1}}\n",
      "f.jsonl", &diagnostics);
  ASSERT_EQ(questions.size(), 4u);
  EXPECT_EQ(questions[0].expected, (std::vector<std::pair<std::string, int>>{{"x", 1}}));
  EXPECT_TRUE(questions[1].expected.empty());
  EXPECT_EQ(questions[2].expected.size(), 2u);
  EXPECT_EQ(questions[3].expected[0].second, 3);
  EXPECT_TRUE(diagnostics.empty());
}

TEST(ReadQuestions, ABadLineIsNamedAndTheRestIsRead) {
  Diagnostics diagnostics;
  const auto questions =
      ReadQuestions("{\"query\":\"a\",\"expected\":null}\n{broken\n[1]\n{\"query\":\"b\"}",
                    "f.jsonl", &diagnostics);
  EXPECT_EQ(questions.size(), 2u);
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].line, 2);
  EXPECT_EQ(diagnostics[1].line, 3);
}

TEST(Auroc, IsTheChanceThatAPositiveScoresHigher) {
  EXPECT_DOUBLE_EQ(Auroc({2, 3}, {0, 1}), 1.0);
  EXPECT_DOUBLE_EQ(Auroc({0, 1}, {2, 3}), 0.0);
  EXPECT_DOUBLE_EQ(Auroc({1}, {1}), 0.5);
  EXPECT_DOUBLE_EQ(Auroc({1, 3}, {2}), 0.5);
  EXPECT_TRUE(std::isnan(Auroc({}, {1})));
}

TEST(BootstrapMean, TheIntervalHoldsTheMeanAndShrinksWithMoreSamples) {
  std::vector<double> few, many;
  for (int i = 0; i < 20; ++i) few.push_back(i % 2);
  for (int i = 0; i < 2000; ++i) many.push_back(i % 2);
  const Estimate a = BootstrapMean(few), b = BootstrapMean(many);
  EXPECT_DOUBLE_EQ(a.mean, 0.5);
  EXPECT_LT(a.low, 0.5);
  EXPECT_GT(a.high, 0.5);
  EXPECT_LT(b.high - b.low, (a.high - a.low) / 5);
  EXPECT_DOUBLE_EQ(BootstrapMean({}).mean, 0);
}

TEST(EvaluateRetrieval, CountsRanksAndRefusals) {
  const test::Corpus corpus("evaluate");
  corpus.WriteExample();
  corpus.Index();
  Retriever retriever(corpus.kb_dir());
  Diagnostics diagnostics;
  const auto questions = ReadQuestions(
      "{\"query\":\"shared memory bank conflicts padding\",\"expected\":\"shared-memory-banks\"}\n"
      "{\"query\":\"parity of the phase\",\"expected\":\"async-copy\"}\n"
      "{\"query\":\"bank conflicts\",\"expected\":\"no-such-skill\"}\n"
      "{\"query\":\"sourdough bread\",\"expected\":null}\n",
      "f", &diagnostics);
  const VariantScore score = EvaluateRetrieval(retriever, questions, Variant::kFull);
  EXPECT_EQ(score.answerable, 3);
  EXPECT_EQ(score.unanswerable, 1);
  EXPECT_NEAR(score.recall_at_1.mean, 2.0 / 3, 1e-9);
  EXPECT_NEAR(score.mrr.mean, 2.0 / 3, 1e-9);
  EXPECT_NEAR(score.ndcg_at_10.mean, 2.0 / 3, 1e-9);
  EXPECT_EQ(score.refused_rightly, 1);
  EXPECT_GT(score.refusal_auroc, 0.6);
}

}  // namespace
}  // namespace kb
