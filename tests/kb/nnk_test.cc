#include "kb/nnk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kb {
namespace {

using testing::ElementsAre;

TEST(ParseNnkEntry, ReadsWhatAnEntryStates) {
  const NnkEntry entry = ParseNnkEntry(ParseDocument(
      "nnk/axpy-wide/NNK.md",
      "---\nkb: nnk/1\nid: axpy-wide\ntitle: Wide loads\nclaim: \"float4 is 1.27x\"\n"
      "scope: {arch: sm_90, dtype: [fp32]}\nnot_when: unaligned\n"
      "case: {name: axpy, sha256: abc}\nstate: proved\n"
      "best: {gpu: H200, median_us: 187.8, baseline: scalar, speedup: 1.27, ci95: [1.26, 1.28],"
      " percent_of_roofline: 91}\nsupersedes: old\nrelated: [a, b]\n---\nbody\n"));
  EXPECT_EQ(entry.id, "axpy-wide");
  EXPECT_EQ(entry.title, "Wide loads");
  EXPECT_EQ(entry.claim, "float4 is 1.27x");
  EXPECT_EQ(entry.not_when, "unaligned");
  EXPECT_EQ(entry.case_name, "axpy");
  EXPECT_EQ(entry.case_sha256, "abc");
  EXPECT_EQ(entry.state, "proved");
  EXPECT_EQ(entry.gpu, "H200");
  EXPECT_EQ(entry.median_us, 187.8);
  EXPECT_EQ(entry.speedup, 1.27);
  EXPECT_EQ(entry.ci95_low, 1.26);
  EXPECT_EQ(entry.ci95_high, 1.28);
  EXPECT_EQ(entry.percent_of_roofline, 91.0);
  EXPECT_THAT(entry.supersedes, ElementsAre("old"));
  EXPECT_THAT(entry.related, ElementsAre("a", "b"));
}

TEST(ParseNnkEntry, AnythingLoads) {
  for (const char* text : {"", "# T\n", "---\nkb: nnk/1\n---\n",
                           "---\nbest: [1]\ncase: axpy\nstate: {a: b}\nrelated: 3\n---\n",
                           "---\nbest: {ci95: [1], speedup: fast, median_us: {}}\n---\n"}) {
    const NnkEntry entry = ParseNnkEntry(ParseDocument("nnk/x/NNK.md", text));
    EXPECT_EQ(entry.id, "x");
    EXPECT_FALSE(entry.speedup);
    EXPECT_FALSE(entry.median_us);
    EXPECT_FALSE(entry.ci95_low);
  }
}

TEST(ParseNnkEntry, ANumberWithItsUnitIsANumber) {
  const NnkEntry entry = ParseNnkEntry(
      ParseDocument("nnk/x/NNK.md", "---\nbest: {speedup: 1.27x}\ncase: axpy\n---\n"));
  EXPECT_EQ(entry.speedup, 1.27);
  EXPECT_EQ(entry.case_name, "axpy");
}

TEST(IsNnkState, KnowsTheFourStates) {
  for (const char* state : {"proved", "replicated", "stale", "refuted"}) {
    EXPECT_TRUE(IsNnkState(state)) << state;
  }
  for (const char* state : {"", "Proved", "new"}) EXPECT_FALSE(IsNnkState(state)) << state;
}

}  // namespace
}  // namespace kb
