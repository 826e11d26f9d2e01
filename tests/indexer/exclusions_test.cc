#include "indexer/exclusions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kb {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(WithoutExclusions, DropsWhatAfterACueIsNotMeant) {
  for (const char* text : {
           "Tune softmax. Do not use for convolution.",
           "Tune softmax. Not for convolution.",
           "Tune softmax; for convolution, use another-skill.",
           "Tune softmax. Out of scope: convolution.",
           "Tune softmax. Don't use it with convolution!",
           "Tune softmax. DO NOT USE FOR convolution",
       }) {
    EXPECT_THAT(WithoutExclusions(text), HasSubstr("softmax")) << text;
    EXPECT_THAT(WithoutExclusions(text), Not(HasSubstr("convolution"))) << text;
  }
}

TEST(WithoutExclusions, KeepsWhatStandsBeforeTheCueAndAfterTheSentence) {
  const std::string kept =
      WithoutExclusions("Fuse norms, not for training. Covers RMSNorm and LayerNorm.");
  EXPECT_THAT(kept, HasSubstr("Fuse norms"));
  EXPECT_THAT(kept, Not(HasSubstr("training")));
  EXPECT_THAT(kept, HasSubstr("LayerNorm"));
}

TEST(WithoutExclusions, PlainForIsNoCue) {
  const char* text = "For kernels that use shared memory and for reductions.";
  EXPECT_THAT(WithoutExclusions(text), HasSubstr("shared memory and for reductions"));
}

TEST(WithoutExclusions, CuesAreWholeWords) {
  EXPECT_THAT(WithoutExclusions("It cannot forget refused4 words"), HasSubstr("words"));
}

TEST(WithoutExclusions, AnyBytesAreTaken) {
  EXPECT_EQ(WithoutExclusions(""), "");
  EXPECT_THAT(WithoutExclusions("\xFF.\0not for"), HasSubstr("\xFF"));
  EXPECT_THAT(WithoutExclusions("..."), HasSubstr("..."));
}

}  // namespace
}  // namespace kb
