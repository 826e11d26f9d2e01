#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/document.h"
#include "kb/yaml.h"

namespace kb {
namespace {

using testing::ElementsAre;

TEST(MatchesArch, ReadsConstraints) {
  const struct {
    const char* constraint;
    const char* arch;
    bool matches;
  } cases[] = {
      {"", "sm_90", true},
      {">=sm_80", "sm_90", true},
      {">=sm_80", "sm_75", false},
      {">= sm_80", "90", true},
      {">=sm_80", "9.0", true},
      {">=8.0", "sm_86", true},
      {">=8.6", "sm_80", false},
      {"sm_90a", "sm_90", true},
      {"sm_90a", "sm_90a", true},
      {"sm_90a", "sm_100", false},
      {">=sm_90a", "sm_100", false},
      {"sm_90", "sm_90a", true},
      {"sm_90", "sm_80", false},
      {"sm_100f", "sm_103", true},
      {"sm_100f", "sm_120", false},
      {"sm_103f", "sm_100", false},
      {"sm_80 sm_90", "sm_90", true},
      {"sm_80, sm_90", "sm_86", false},
      {">=sm_80 <sm_100", "sm_90", true},
      {">=sm_80,<sm_100", "sm_100", false},
      {">=sm_80<sm_100", "sm_120", false},
      {">sm_80", "sm_80", false},
      {"<=sm_90", "sm_90", true},
      {"==sm_90", "sm_90", true},
      {"sm_80+", "sm_120", true},
      {"sm_80+", "sm_75", false},
      {"compute_90", "sm_90", true},
      {"SM90", "sm_90", true},
      {">=9", "12.1", true},
      {">=sm_100", "12.1", true},
      {">=sm_100", "9.0", false},
      {"Hopper or newer", "sm_75", true},
      {">=sm_80", "what", true},
      {">=", "sm_75", true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(MatchesArch(c.constraint, c.arch), c.matches) << c.constraint << " / " << c.arch;
  }
}

TEST(MatchesCuda, ReadsConstraints) {
  const struct {
    const char* constraint;
    const char* version;
    bool matches;
  } cases[] = {
      {"", "12.0", true},           {">=12.0", "12.8", true},      {">=12.0", "11.8", false},
      {">=12", "12.0", true},       {"12.8", "12.8", true},        {"12.8", "12.9", false},
      {"12", "12.9", true},         {"12.x", "12.9", true},        {"12.x", "13.0", false},
      {">=12.0 <14", "13.1", true}, {">=12.0 <14", "14.0", false}, {">=12.8", "12.10", true},
      {">=12.8.1", "12.8", true},   {"11.8+", "13.0", true},       {"<13", "12.9", true},
      {">12", "12.9", false},       {"newest", "9.0", true},       {">=12.0", "13", true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(MatchesCuda(c.constraint, c.version), c.matches)
        << c.constraint << " / " << c.version;
  }
}

TEST(IsArchConstraint, SaysWhatCannotBeRead) {
  for (const char* good : {"", " ", ">=sm_80", "sm_90a sm_100f", "9.0", ">=sm_80 <sm_100"}) {
    EXPECT_TRUE(IsArchConstraint(good)) << good;
  }
  for (const char* bad : {"hopper", ">=", "sm_", "sm_90x", "sm_80 or newer", "9.", "sm_99999999999",
                          "-90", ">= <", "sm_-9"}) {
    EXPECT_FALSE(IsArchConstraint(bad)) << bad;
  }
}

TEST(IsCudaConstraint, SaysWhatCannotBeRead) {
  for (const char* good : {"", ">=12.0", "12", "12.x", ">=12.0 <14", "12.8.1"}) {
    EXPECT_TRUE(IsCudaConstraint(good)) << good;
  }
  for (const char* bad : {"CUDA", "12.", "12.8.", ">=", "v12", "12.0a"}) {
    EXPECT_FALSE(IsCudaConstraint(bad)) << bad;
  }
}

Scope Read(Kind kind, const char* yaml) {
  return ReadScope(kind, ParseYaml(yaml, 0, nullptr).value());
}

TEST(ReadScope, FindsOurKeysWhereverASkillHasThem) {
  for (const char* yaml : {
           "metadata:\n  kb-arch: '>=sm_80'\n  kb-cuda: '>=12.0'\n  kb-dtype: 'fp16, bf16'\n"
           "  kb-bound: memory\n  kb-topics: 'tma, async copy'\n",
           "kb-arch: '>=sm_80'\nkb-cuda: '>=12.0'\nkb-dtype: [fp16, bf16]\nkb-bound: memory\n"
           "kb-topics: [tma, async copy]\n",
           "kb: {arch: '>=sm_80', cuda: ['>=12.0'], dtype: fp16 bf16, bound: memory,"
           " topics: [tma, async copy]}\n",
           "metadata: {kb: {arch: '>=sm_80', cuda: '>=12.0', dtype: fp16 bf16, bound: memory,"
           " topics: 'tma, async copy'}}\n",
       }) {
    const Scope scope = Read(Kind::kSkill, yaml);
    EXPECT_EQ(scope.arch, ">=sm_80");
    EXPECT_EQ(scope.cuda, ">=12.0");
    EXPECT_THAT(scope.dtypes, ElementsAre("fp16", "bf16"));
    EXPECT_EQ(scope.bound, "memory");
    EXPECT_THAT(scope.topics, ElementsAre("tma", "async copy"));
  }
}

TEST(ReadScope, TagsServeAsTopics) {
  EXPECT_THAT(Read(Kind::kSkill, "tags: [gpu, cuda]").topics, ElementsAre("gpu", "cuda"));
  EXPECT_THAT(Read(Kind::kSkill, "metadata: {tags: 'gpu, cuda'}").topics,
              ElementsAre("gpu", "cuda"));
}

TEST(ReadScope, ATraceSaysWhereItRan) {
  const Scope scope = Read(Kind::kTrace,
                           "hardware: {cc: 9.0}\ntask: {op: rmsnorm, dtype: fp16}\n"
                           "toolchain: {cuda: \"13.1\"}\n");
  EXPECT_EQ(scope.arch, "sm_90");
  EXPECT_EQ(scope.cuda, "13.1");
  EXPECT_THAT(scope.dtypes, ElementsAre("fp16"));
  EXPECT_THAT(scope.topics, ElementsAre("rmsnorm"));
  EXPECT_EQ(Read(Kind::kTrace, "hardware: {cc: '10.0'}").arch, "sm_100");
  EXPECT_EQ(Read(Kind::kTrace, "hardware: {gpu: x}").arch, "");
}

TEST(ReadScope, AnEntryHasAScope) {
  const Scope scope =
      Read(Kind::kNnk, "scope: {arch: [sm_80, sm_90], cuda: '>=12.0', dtype: [fp16]}");
  EXPECT_EQ(scope.arch, "sm_80 sm_90");
  EXPECT_EQ(scope.cuda, ">=12.0");
  EXPECT_THAT(scope.dtypes, ElementsAre("fp16"));
}

TEST(ReadScope, ValuesOfOtherTypesAreNoScope) {
  const Scope scope = Read(Kind::kSkill, "metadata: text\nkb: [1]\nkb-arch: {a: b}\n");
  EXPECT_EQ(scope.arch, "");
  EXPECT_TRUE(scope.topics.empty());
}

}  // namespace
}  // namespace kb
