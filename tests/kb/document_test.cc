#include "kb/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"

namespace kb {
namespace {

using testing::Contains;
using testing::IsEmpty;

std::vector<std::string> Rules(const Document& document) {
  std::vector<std::string> rules;
  for (const Diagnostic& d : document.diagnostics) rules.push_back(d.rule);
  return rules;
}

TEST(ParseDocument, ReadsASkill) {
  const std::string text =
      "---\nname: vec-load\ndescription: >\n  Wide loads.\n  Use when memory bound.\n"
      "license: MIT\nallowed-tools: [Read, Bash]\nmetadata:\n  kb-arch: \">=sm_80\"\n"
      "  kb-license-spdx: Apache-2.0\nodd: {deep: [1]}\n---\n# Vector loads\n\ntext\n";
  const Document d = ParseDocument("skills/vec-load/SKILL.md", text);
  EXPECT_EQ(d.kind, Kind::kSkill);
  EXPECT_EQ(d.id, "vec-load");
  EXPECT_EQ(d.title, "vec-load");
  EXPECT_EQ(d.description, "Wide loads. Use when memory bound.");
  EXPECT_FALSE(d.description_derived);
  EXPECT_EQ(d.license, "Apache-2.0");
  EXPECT_EQ(d.scope.arch, ">=sm_80");
  EXPECT_EQ(WriteJson(d.front_matter["allowed-tools"]), R"(["Read","Bash"])");
  EXPECT_EQ(WriteJson(d.front_matter["odd"]), R"({"deep":[1]})");
  EXPECT_EQ(d.text, text);
  EXPECT_EQ(d.body, "# Vector loads\n\ntext\n");
  EXPECT_EQ(d.body_line, 13);
  EXPECT_EQ(d.sha256, Sha256(text));
  EXPECT_THAT(d.diagnostics, IsEmpty());
}

TEST(ParseDocument, KeepsAllowedToolsVerbatim) {
  const Document d = ParseDocument("a/SKILL.md", "---\nallowed-tools: Read, Bash(git:*)\n---\n");
  EXPECT_EQ(d.front_matter["allowed-tools"].AsString(), "Read, Bash(git:*)");
}

TEST(ParseDocument, KnowsKindAndIdByPathAndContent) {
  const struct {
    const char* path;
    const char* text;
    Kind kind;
    const char* id;
    const char* title;
  } cases[] = {
      {"skills/a/SKILL.md", "---\nname: b\n---\n", Kind::kSkill, "b", "b"},
      {"skills/a/SKILL.md", "# T\n", Kind::kSkill, "a", "T"},
      {"skills/a/skill.md", "x\n", Kind::kSkill, "a", "a"},
      {"SKILL.md", "x\n", Kind::kSkill, "SKILL.md", "SKILL.md"},
      {"nnk/n1/NNK.md", "---\nid: n1\ntitle: T\n---\n", Kind::kNnk, "n1", "T"},
      {"nnk/n1/NNK.md", "", Kind::kNnk, "n1", "n1"},
      {"x.md", "---\nkb: nnk/1\nid: n2\n---\n", Kind::kNnk, "n2", "x.md"},
      {"x/y.md", "---\nkb: trace/1\nid: t\n---\n# H\n", Kind::kTrace, "t", "H"},
      {"traces/2026/log.md", "# Journal\n", Kind::kTrace, "log", "Journal"},
      {"a/traces/2026/b.trace.md", "", Kind::kTrace, "b", "b"},
      {"traces/README.md", "# R\n", Kind::kPage, "traces/README.md", "R"},
      {"skills/a/references/r.md", "text\n", Kind::kPage, "skills/a/references/r.md", "r"},
      {"skills/a/references/r.md", "---\ntitle: T\n---\n# H\n", Kind::kPage,
       "skills/a/references/r.md", "T"},
      {"README", "x", Kind::kPage, "README", "README"},
      {"", "", Kind::kPage, "", ""},
  };
  for (const auto& c : cases) {
    const Document d = ParseDocument(c.path, c.text);
    EXPECT_EQ(d.kind, c.kind) << c.path;
    EXPECT_EQ(d.id, c.id) << c.path;
    EXPECT_EQ(d.title, c.title) << c.path;
  }
}

TEST(ParseDocument, DerivesADescriptionThatIsNotStated) {
  const struct {
    const char* text;
    const char* description;
  } cases[] = {
      {"# T\n\nfirst\nparagraph\n\n## When to Use This\n\nWhen slow.\n", "When slow."},
      {"# T\n\nfirst\n\n## When to use\n\n- a is slow\n- b is slow\n", "a is slow b is slow"},
      {"# T\n\n![badge](x)\n\n| a |\n\nfirst\nparagraph\n", "first paragraph"},
      {"---\ndescription: ''\n---\ntext\n", "text"},
      {"# T\n\n## When to use\n\n# Next\n\np\n", "p"},
      {"# only\n", ""},
      {"", ""},
  };
  for (const auto& c : cases) {
    const Document d = ParseDocument("a/SKILL.md", c.text);
    EXPECT_EQ(d.description, c.description) << c.text;
    EXPECT_EQ(d.description_derived, *c.description != '\0') << c.text;
  }
  const Document d = ParseDocument("a.md", std::string(1023, 'x') + "é and more");
  EXPECT_EQ(d.description, std::string(1023, 'x'));
}

TEST(ParseDocument, EveryDefectOfTheTextLoadsWithADiagnostic) {
  const struct {
    std::string text;
    const char* rule;
    int line;
  } cases[] = {
      {"# T\n", "front-matter-missing", 1},
      {"\xEF\xBB\xBF---\nname: a\n---\n", "text-bom", 1},
      {"---\nname: a\r\n---\n", "text-cr", 2},
      {std::string("---\nname: a\n---\n\0\n", 18), "text-nul", 4},
      {"---\nname: a\n---\n\nx\xC3(\n", "text-utf8", 5},
      {"---\nname: a\n---\n\n```\nx\n", "markdown-fence", 5},
      {"---\nname: a: b\n---\n", "front-matter-yaml", 2},
      {"---\nname: a\n\n# T\n", "front-matter-unterminated", 1},
  };
  for (const auto& c : cases) {
    const Document d = ParseDocument("a/SKILL.md", c.text);
    EXPECT_THAT(Rules(d), testing::ElementsAre(c.rule)) << c.text;
    EXPECT_EQ(d.diagnostics.at(0).line, c.line) << c.text;
    EXPECT_EQ(d.diagnostics.at(0).path, "a/SKILL.md");
    EXPECT_FALSE(d.diagnostics.at(0).mend.empty());
    EXPECT_EQ(d.text, c.text);
  }
}

TEST(ParseDocument, FencesOfFourBackticksHoldFencesOfThree) {
  const Document d = ParseDocument("r.md", "````md\n```cuda\nx\n```\n````\n\nend\n");
  ASSERT_EQ(d.blocks.size(), 2u);
  EXPECT_EQ(d.blocks[0].text, "```cuda\nx\n```\n");
  EXPECT_THAT(d.diagnostics, IsEmpty());
}

TEST(ParseDocument, ATextOverTheLimitKeepsItsFrontMatter) {
  const Document d = ParseDocument(
      "a/SKILL.md", "---\nname: big\n---\n" + std::string(static_cast<size_t>(kMaxFileBytes), 'x'));
  EXPECT_EQ(d.id, "big");
  EXPECT_THAT(Rules(d), Contains("text-too-large"));
  EXPECT_TRUE(d.blocks.empty());
}

TEST(ParseDocument, ReadsStateAndLicenseOfAnEntry) {
  const Document d =
      ParseDocument("nnk/n/NNK.md",
                    "---\nkb: nnk/1\nclaim: 2x\nstate: proved\nprovenance: {license: MIT}\n---\n");
  EXPECT_EQ(d.state, "proved");
  EXPECT_EQ(d.license, "MIT");
  EXPECT_EQ(d.description, "2x");
  EXPECT_FALSE(d.description_derived);
}

TEST(BundleOf, IsTheNearestFolderWithAnIndexFile) {
  const auto has_index = [](const std::string& folder) {
    return folder == "r/skills/a" || folder == "r/skills/a/nested" || folder == "";
  };
  EXPECT_EQ(BundleOf("r/skills/a/references/x/y.md", "r", has_index), "r/skills/a");
  EXPECT_EQ(BundleOf("r/skills/a/nested/SKILL.md", "r", has_index), "r/skills/a/nested");
  EXPECT_EQ(BundleOf("r/docs/y.md", "r", has_index), "r/docs/y.md");
  EXPECT_EQ(BundleOf("y.md", "", has_index), "y.md");
}

TEST(FormatDiagnostic, StaysOnOneLine) {
  EXPECT_EQ(FormatDiagnostic({Severity::kError, "r", "a\nb.md", 3, "bad \x1b[31m", "mend it"}),
            "a\\x0Ab.md:3: error: bad \\x1B[31m [r] (mend it)");
  EXPECT_EQ(FormatDiagnostic({Severity::kNote, "r", "a.md", 0, "m", ""}), "a.md: note: m [r]");
}

TEST(IsBlocked, AsksForOneBlockingFinding) {
  EXPECT_FALSE(IsBlocked({}));
  EXPECT_FALSE(IsBlocked({{Severity::kError, "", "", 0, "", ""}}));
  EXPECT_TRUE(
      IsBlocked({{Severity::kError, "", "", 0, "", ""}, {Severity::kBlock, "", "", 0, "", ""}}));
}

}  // namespace
}  // namespace kb
