#include "tdd/candidate.h"

#include "case_files.h"

namespace kb {
namespace {

using ::testing::HasSubstr;

TEST_F(CaseFiles, AGoodCandidateHasNoFindings) {
  const LoadedCandidate loaded = LaunchWith(kLaunchYaml);
  EXPECT_EQ(Lines(loaded.diagnostics), "");
  const Candidate& candidate = loaded.value;
  EXPECT_EQ(candidate.id, "naive");
  EXPECT_EQ(candidate.source_text, kKernel);
  ASSERT_EQ(candidate.launches.size(), 1u);
  EXPECT_EQ(candidate.launches[0].args.size(), 4u);
  EXPECT_EQ(candidate.launches[0].line, 6);
  EXPECT_EQ(candidate.sha256.size(), 64u);
}

}  // namespace
}  // namespace kb
