#include "indexer/retriever.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/error.h"
#include "tests/indexer/corpus.h"

namespace kb {
namespace {

using test::Corpus;
using test::IdsOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class RetrieverTest : public testing::Test {
 protected:
  RetrieverTest() : corpus_(testing::UnitTest::GetInstance()->current_test_info()->name()) {
    corpus_.WriteExample();
    corpus_.Index();
  }
  Answer Ask(Query query) {
    Retriever retriever(corpus_.kb_dir());
    return retriever.Search(query);
  }
  Answer Ask(const std::string& text, Filters filters = {}) {
    return Ask(Query{.text = text, .filters = std::move(filters), .always_answer = true});
  }
  Corpus corpus_;
};

TEST_F(RetrieverTest, FindsThePassageAndItsBundle) {
  const Answer answer = Ask("parity of the phase");
  ASSERT_FALSE(answer.hits.empty());
  EXPECT_EQ(answer.hits[0].bundle_id, "async-copy");
  EXPECT_THAT(answer.hits[0].document.path, HasSubstr("references/phases.md"));
  Retriever retriever(corpus_.kb_dir());
  EXPECT_THAT(retriever.PassageText(answer.hits[0]), HasSubstr("parity of the phase flips"));
}

TEST_F(RetrieverTest, IdentifiersAreAlwaysFound) {
  for (const char* identifier : {"cp.async.bulk", "cudaFuncSetAttribute", "mbarrier.try_wait",
                                 "l1tex__data_bank_conflicts_pipe_lsu", "CUDAFUNCSETATTRIBUTE"}) {
    const Answer answer = Ask(Query{.text = identifier});
    EXPECT_FALSE(answer.nothing_applies) << identifier;
    EXPECT_THAT(answer.hits, Not(IsEmpty())) << identifier;
  }
}

TEST_F(RetrieverTest, ABundleOccursOnce) {
  const std::vector<std::string> ids = IdsOf(Ask("cp.async.bulk mbarrier phase parity barrier"));
  EXPECT_EQ(std::count(ids.begin(), ids.end(), "async-copy"), 1);
}

TEST_F(RetrieverTest, WhatADescriptionExcludesDoesNotRankIt) {
  EXPECT_EQ(IdsOf(Ask("bank conflicts"))[0], "shared-memory-banks");
}

TEST_F(RetrieverTest, FiltersComeBeforeScoring) {
  EXPECT_THAT(IdsOf(Ask("padding", {.kinds = {Kind::kNnk}})), ElementsAre("pad-33"));
  EXPECT_THAT(IdsOf(Ask("transpose padding copies", {.kinds = {Kind::kTrace}})), ElementsAre("t1"));
  EXPECT_THAT(IdsOf(Ask("mbarrier copies", {.arch = "sm_80"})), Not(Contains("async-copy")));
  EXPECT_THAT(IdsOf(Ask("mbarrier copies", {.arch = "sm_90"})), Contains("async-copy"));
  EXPECT_THAT(IdsOf(Ask("mbarrier copies", {.cuda = "11.8"})), Not(Contains("async-copy")));
  EXPECT_THAT(IdsOf(Ask("conflicts", {.tags = {"smem"}})), ElementsAre("shared-memory-banks"));
  EXPECT_THAT(IdsOf(Ask("conflicts", {.tags = {"nosuch"}})), IsEmpty());
  EXPECT_THAT(IdsOf(Ask("padding", {.state = "proved"})), ElementsAre("pad-33"));
}

TEST_F(RetrieverTest, NothingAppliesNamesTheNearestMissAndWhy) {
  const Answer answer = Ask(Query{.text = "bake a sourdough bread with conflicts"});
  EXPECT_TRUE(answer.nothing_applies);
  EXPECT_THAT(answer.hits, IsEmpty());
  ASSERT_TRUE(answer.nearest_miss.has_value());
  EXPECT_THAT(answer.why, HasSubstr("sourdough"));
  EXPECT_LT(answer.confidence, answer.threshold);
}

TEST_F(RetrieverTest, AnotherNameForTheSameThingFindsItToo) {
  // No document says "tensor map"; the table of aliases knows cp.async.bulk.
  const std::vector<std::string> ids = IdsOf(Ask("tensor map"));
  ASSERT_FALSE(ids.empty());
  EXPECT_EQ(ids[0], "async-copy");
}

TEST_F(RetrieverTest, AGpuKnownByItsArchitectureIsNoForeignSubject) {
  // "sm_90a" is known here, "H100" is not, but means it.
  const double with = Ask("overlap copies with mbarrier on H100").confidence;
  const double without = Ask("overlap copies with mbarrier").confidence;
  const double foreign = Ask("overlap copies with mbarrier on Z80").confidence;
  EXPECT_GE(with, without * 0.99);
  EXPECT_LT(foreign, without);
}

TEST_F(RetrieverTest, TheReasonNamesTheWordsAsAsked) {
  EXPECT_THAT(Ask(Query{.text = "Purple elephants' cookeries?"}).why,
              HasSubstr("Purple, elephants', cookeries"));
}

TEST_F(RetrieverTest, AKnownWordInPassingDoesNotMakeAQuestionAnswerable) {
  EXPECT_TRUE(Ask(Query{.text = "knead a sourdough bread overnight, with yeast, on graphs"})
                  .nothing_applies);
}

TEST_F(RetrieverTest, WhatAFilterKeepsOutIsNamedAsTheNearestMiss) {
  const Answer answer =
      Ask(Query{.text = "mbarrier copies with cp.async.bulk", .filters = {.arch = "sm_80"}});
  EXPECT_TRUE(answer.nothing_applies);
  ASSERT_TRUE(answer.nearest_miss.has_value());
  EXPECT_EQ(answer.nearest_miss->bundle_id, "async-copy");
  EXPECT_THAT(answer.why, HasSubstr("--arch sm_80 (it is for sm_90a)"));
}

TEST_F(RetrieverTest, AListOfSourcesIsNotThePassageShown) {
  corpus_.WriteSkill(
      "cited", "About gadolinium tiles.",
      "Gadolinium tiles are laid in rows of eight words each, and so on.\n\n## Sources\n\n"
      "Gadolinium tiles guide, gadolinium tiles manual, gadolinium.\n");
  corpus_.Index();
  const Answer answer = Ask("gadolinium tiles");
  ASSERT_FALSE(answer.hits.empty());
  EXPECT_THAT(answer.hits[0].chunk.heading, Not(HasSubstr("Sources")));
}

TEST_F(RetrieverTest, TheTailOfWeakHitsIsCut) {
  const Answer answer = Ask(Query{.text = "shared memory bank conflicts padding"});
  ASSERT_FALSE(answer.hits.empty());
  for (const Hit& hit : answer.hits) EXPECT_GE(hit.score, 0.2 * answer.hits[0].score);
}

TEST_F(RetrieverTest, AnEmptyQuestionHasNoHits) {
  for (const char* text : {"", "   ", "the of and", "?!"}) {
    const Answer answer = Ask(Query{.text = text});
    EXPECT_TRUE(answer.nothing_applies);
    EXPECT_THAT(answer.hits, IsEmpty());
  }
}

TEST_F(RetrieverTest, FeaturesAddUpToTheScore) {
  for (const Hit& hit : Ask("bank conflicts in shared memory").hits) {
    double sum = 0;
    for (const Feature& feature : hit.features) sum += feature.weight * feature.value;
    EXPECT_NEAR(sum, hit.score, 1e-6);
    EXPECT_THAT(hit.features, SizeIs(7));
  }
}

TEST_F(RetrieverTest, TheSameQuestionGivesTheSameAnswer) {
  const Answer first = Ask("overlap copies"), second = Ask("overlap copies");
  ASSERT_EQ(IdsOf(first), IdsOf(second));
  for (size_t i = 0; i < first.hits.size(); ++i) {
    EXPECT_EQ(first.hits[i].score, second.hits[i].score);
  }
}

TEST_F(RetrieverTest, GivesAtMostK) {
  EXPECT_THAT(Ask(Query{.text = "memory copies graphs", .k = 1, .always_answer = true}).hits,
              SizeIs(1));
}

TEST_F(RetrieverTest, ARefutedEntryIsShownOnlyWhenAskedFor) {
  corpus_.Write("nnk/pad-33/NNK.md",
                "---\nkb: nnk/1\nid: pad-33\ntitle: Padding to 33 words\nstate: refuted\n---\n"
                "# Padding to 33 words\n\nPadding the tile.\n");
  corpus_.Index();
  EXPECT_THAT(IdsOf(Ask("padding the tile to 33 words")), Not(Contains("pad-33")));
  EXPECT_THAT(IdsOf(Ask("padding", {.state = "refuted"})), ElementsAre("pad-33"));
}

TEST_F(RetrieverTest, KnowsWhenItIsOutdated) {
  Retriever retriever(corpus_.kb_dir());
  EXPECT_FALSE(retriever.IsOutdated());
  corpus_.WriteSkill("newer", "Newer.", "Newer.");
  corpus_.Index();
  EXPECT_TRUE(retriever.IsOutdated());
  // It still answers from its own generation.
  EXPECT_THAT(IdsOf(retriever.Search({.text = "bank conflicts", .always_answer = true})),
              Contains("shared-memory-banks"));
}

TEST_F(RetrieverTest, HugeAndHostileQuestionsAreTaken) {
  for (const std::string& text :
       {std::string(1000000, 'a'), std::string(100000, '\xFF'), std::string(5000, '\0'),
        std::string("'; DROP TABLE documents; --"), std::string("\" OR NEAR( * ^ -")}) {
    EXPECT_NO_THROW((void)Ask(text));
  }
}

TEST(Retriever, NothingIndexedYetSaysWhatToRun) {
  const Corpus corpus("nothing_indexed");
  try {
    Retriever retriever(corpus.kb_dir());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("kb index"));
  }
}

TEST(Retriever, WithoutAnEmbedderTheLexicalLegsAnswer) {
  const Corpus corpus("none");
  corpus.WriteExample();
  corpus.Index("none");
  Retriever retriever(corpus.kb_dir());
  EXPECT_EQ(IdsOf(retriever.Search({.text = "bank conflicts", .always_answer = true}))[0],
            "shared-memory-banks");
}

}  // namespace
}  // namespace kb
