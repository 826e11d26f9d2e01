#include "indexer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kb {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

TEST(Tokenize, DropsPluralsAndStopWords) {
  EXPECT_THAT(Tokenize("How do I avoid the bank conflicts?"),
              ElementsAre("avoid", "bank", "conflict"));
}

TEST(Tokenize, OnlyPluralsLoseTheirS) {
  EXPECT_THAT(Tokenize("queries banks class axis bus gas"),
              ElementsAre("query", "bank", "class", "axis", "bus", "gas"));
}

TEST(Tokenize, AnIdentifierGivesItselfAndItsParts) {
  EXPECT_THAT(Tokenize("cp.async.bulk"), ElementsAre("cp.async.bulk", "cp", "async", "bulk"));
  EXPECT_THAT(Tokenize("sm_90a"), ElementsAre("sm_90a", "sm", "90a"));
  EXPECT_THAT(Tokenize("__launch_bounds__"), ElementsAre("launch_bounds", "launch", "bound"));
  EXPECT_THAT(Tokenize("cuda::memcpy_async"),
              ElementsAre("cuda::memcpy_async", "cuda", "memcpy", "async"));
}

TEST(Tokenize, ACamelCaseNameGivesItsHumps) {
  EXPECT_THAT(Tokenize("cudaFuncSetAttribute"),
              ElementsAre("cudafuncsetattribute", "cuda", "func", "set", "attribute"));
  EXPECT_THAT(Tokenize("CUtensorMap"), Contains("map"));
}

TEST(Tokenize, TheSameIdentifierIsFoundHoweverItIsWritten) {
  for (const char* query : {"wgmma.mma_async", "WGMMA.MMA_ASYNC", "`wgmma.mma_async`",
                            "(wgmma.mma_async)", "wgmma.mma_async."}) {
    EXPECT_THAT(Tokenize(query), Contains("wgmma.mma_async")) << query;
  }
}

TEST(Tokenize, AMetricNameIsOneTermToo) {
  const std::string metric = "dram__throughput.avg.pct_of_peak_sustained_elapsed";
  EXPECT_THAT(Tokenize(metric), Contains(metric));
  EXPECT_THAT(Tokenize(metric), Contains("throughput"));
}

TEST(Tokenize, HyphensJoinWordsButMakeNoIdentifier) {
  EXPECT_THAT(Tokenize("row-major"), ElementsAre("row", "major"));
}

TEST(Tokenize, ApostrophesDoNotSplitAWord) {
  EXPECT_THAT(Tokenize("don't can\xE2\x80\x99t"), IsEmpty());
  EXPECT_THAT(Tokenize("kernel's"), ElementsAre("kernel"));
}

TEST(Tokenize, OtherScriptsGiveWordsAndIdeographs) {
  EXPECT_THAT(Tokenize("\xE5\x86\x85\xE5\xAD\x98"), ElementsAre("\xE5\x86\x85", "\xE5\xAD\x98"));
  EXPECT_THAT(Tokenize("na\xC3\xAFve"), ElementsAre("na\xC3\xAFve"));
  EXPECT_THAT(Tokenize("a\xE2\x80\x94"
                       "bank"),
              ElementsAre("bank"));
}

TEST(Tokenize, InvalidUtf8SeparatesAndNothingElse) {
  EXPECT_THAT(Tokenize("bank\xFF\xFEwarp\xC3"), ElementsAre("bank", "warp"));
  EXPECT_THAT(Tokenize(std::string("bank\0warp", 9)), ElementsAre("bank", "warp"));
}

TEST(Tokenize, TermsAreBounded) {
  const std::string huge(100000, 'x');
  EXPECT_THAT(Tokenize(huge), IsEmpty());
  EXPECT_THAT(Tokenize(huge + " bank"), ElementsAre("bank"));
  for (const std::string& term : Tokenize("a_" + std::string(70, 'y') + "_b.c")) {
    EXPECT_LE(term.size(), kMaxTermBytes);
  }
}

TEST(Identifiers, AreCodeAndNotProse) {
  EXPECT_THAT(Identifiers("why does cudaMalloc fail on sm_90a with wgmma.mma_async in prose"),
              ElementsAre("cudaMalloc", "sm_90a", "wgmma.mma_async"));
  EXPECT_THAT(Identifiers("a plain question about 256 threads. Really?"), IsEmpty());
}

}  // namespace
}  // namespace kb
