#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "kb/file.h"
#include "kb/lint_internal.h"
#include "tests/kb/lint_fixture.h"

namespace kb {
namespace {

using test::FindFinding;
using test::Has;
using test::LintText;
using test::Rules;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const char kFront[] =
    "---\nname: tiled-copy\ndescription: Copies tiles. Use when memory bound.\n"
    "license: Apache-2.0\n";

std::string Skill(const std::string& more_front, const std::string& body = "# T\n") {
  return kFront + more_front + "---\n" + body;
}

Diagnostics LintSkillText(const std::string& text, const LintContext& context = {}) {
  return LintText("skills/tiled-copy/SKILL.md", text, context);
}

TEST(LintSkill, AcceptsASkillOfTheSpecification) {
  const std::string text = Skill(
      "compatibility: needs nvcc\nallowed-tools: Read Bash(git:*)\nmetadata:\n  author: me\n"
      "  kb-arch: \">=sm_80\"\n  kb-cuda: \">=12.0\"\n  kb-dtype: bf16 fp8_e4m3\n"
      "  kb-bound: memory\n  kb-topics: copy tiling\n  kb-evidence: copy-1 copy-2\n"
      "  kb-license-spdx: Apache-2.0\n");
  EXPECT_THAT(LintSkillText(text), IsEmpty());
}

struct FrontCase {
  const char* name;
  std::string text;
  const char* rule;
  int line;
};

TEST(LintSkill, FrontMatterBreaksOneRuleAtATime) {
  const std::string name = "name: tiled-copy\n", license = "license: MIT\n";
  const std::string description = "description: Use when copying.\n";
  const auto doc = [](const std::string& front) { return "---\n" + front + "---\n# T\n"; };
  const FrontCase cases[] = {
      {"no name", doc(description + license), "skill-name-missing", 1},
      {"capital", doc("name: Tiled-copy\n" + description + license), "skill-name", 2},
      {"two hyphens", doc("name: tiled--copy\n" + description + license), "skill-name", 2},
      {"other folder", doc("name: tiled\n" + description + license), "skill-name-folder", 2},
      {"no description", doc(name + license), "skill-description-missing", 1},
      {"long", doc(name + "description: when " + std::string(1020, 'x') + "\n" + license),
       "skill-description-length", 3},
      {"no when", doc(name + "description: Copies tiles.\n" + license), "skill-description-when",
       3},
      {"no licence", doc(name + description), "license-missing", 1},
      {"licence list", doc(name + description + "license: [MIT]\n"), "skill-license", 4},
      {"compatibility",
       doc(name + description + license + "compatibility: " + std::string(501, 'x') + "\n"),
       "skill-compatibility", 5},
      {"tools list", doc(name + description + license + "allowed-tools: [Read]\n"),
       "skill-allowed-tools", 5},
      {"tools commas", doc(name + description + license + "allowed-tools: Read, Write\n"),
       "skill-allowed-tools", 5},
      {"unknown key", doc(name + description + license + "version: \"1\"\n"), "skill-unknown-key",
       5},
      {"metadata list", doc(name + description + license + "metadata: [a]\n"), "skill-metadata", 5},
      {"metadata number", doc(name + description + license + "metadata:\n  v: 1\n"),
       "skill-metadata", 6},
      {"our key", doc(name + description + license + "metadata:\n  kb-color: red\n"),
       "skill-kb-key", 6},
      {"our arch", doc(name + description + license + "metadata:\n  kb-arch: fast\n"),
       "skill-kb-value", 6},
      {"our cuda", doc(name + description + license + "metadata:\n  kb-cuda: new\n"),
       "skill-kb-value", 6},
      {"our bound", doc(name + description + license + "metadata:\n  kb-bound: money\n"),
       "skill-kb-value", 6},
      {"our evidence", doc(name + description + license + "metadata:\n  kb-evidence: ../x\n"),
       "skill-kb-value", 6},
  };
  for (const FrontCase& c : cases) {
    const Diagnostics found = LintSkillText(c.text);
    EXPECT_TRUE(Has(found, c.rule)) << c.name << testing::PrintToString(Rules(found));
    if (const Diagnostic* finding = FindFinding(found, c.rule)) {
      EXPECT_EQ(finding->line, c.line) << c.name;
      EXPECT_EQ(finding->severity, FindRule(c.rule)->severity) << c.name;
    }
    const bool two = std::string_view(c.name) == "capital" || c.name == std::string("two hyphens");
    EXPECT_EQ(Rules(found).size(), two ? 2u : 1u)  // such a name is not the folder's either
        << c.name << testing::PrintToString(Rules(found));
  }
}

TEST(LintSkill, CountsCharactersNotBytes) {
  std::string text = "when ";
  for (int i = 0; i < 1019; ++i) text += "\xC3\xA9";
  EXPECT_FALSE(Has(LintSkillText("---\nname: tiled-copy\ndescription: " + text + "\n---\n"),
                   "skill-description-length"));
}

TEST(LintSkill, WarnsOfALongBody) {
  std::string lines, words;
  for (int i = 0; i < 501; ++i) lines += "x\n";
  for (int i = 0; i < 450; ++i) words += std::string(50, 'x') + "\n";
  EXPECT_THAT(Rules(LintSkillText(Skill("", lines))), ElementsAre("skill-body-lines"));
  EXPECT_THAT(Rules(LintSkillText(Skill("", words))), ElementsAre("skill-body-tokens"));
}

TEST(LintSkill, FindsBrokenRelativeLinksOnDisk) {
  const std::string root = testing::TempDir() + "kb_lint_links_" + std::to_string(getpid());
  const std::string folder = root + "/tiled-copy";
  std::filesystem::create_directories(folder + "/references");
  WriteFileAtomically(folder + "/references/a b.md", "x");
  const std::string text =
      Skill("",
            "[a](references/a%20b.md#part) [b](references/no.md)\n[c](https://x.y/z.md)\n"
            "`[d](references/code.md)` [e](#part) [f](<name>.md)\n```\n[g](x/no.md)\n```\n");
  WriteFileAtomically(folder + "/SKILL.md", text);
  const Diagnostics found = LintText(folder + "/SKILL.md", text);
  std::filesystem::remove_all(root);
  ASSERT_THAT(Rules(found), ElementsAre("link-broken"));
  EXPECT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("references/no.md"));
  EXPECT_THAT(LintSkillText(text), IsEmpty());  // not on disk: not looked for
}

// ---- claims ----

struct ClaimCase {
  const char* text;
  std::vector<std::string> claims;
};

TEST(FindClaims, FindsNumbersAboutSpeed) {
  const ClaimCase cases[] = {
      {"It is 2.3x faster.", {"2.3x"}},
      {"a speedup of 2.3\xC3\x97 over cuBLAS", {"2.3\xC3\x97"}},
      {"2-4x faster", {"4x"}},
      {"30 % faster, 30% speedup", {"30 %", "30%"}},
      {"reaches 87 percent of peak", {"87 percent"}},
      {"1.9 TB/s and **900** GB/s", {"1.9 TB/s", "900** GB/s"}},
      {"782 TFLOP/s; 1,234 GFLOPS", {"782 TFLOP/s", "1,234 GFLOPS"}},
      {"takes 45 us, 3\xC2\xB5s, 10 ms", {"45 us", "3\xC2\xB5s", "10 ms"}},
      {"about 400 cycles", {"400 cycles"}},
      {"50 tokens/s", {"50 tokens/s"}},
      {"4x4 tiles, 2x unrolled, 128x128x64", {}},
      {"sm_90 has 228 KB; CUDA 12.8; 100 % of tests", {}},
      {"use 4 stages and 256 threads", {}},
      {"in 2026 us citizens", {"2026 us"}},  // a price of knowing no English
      {"0x10 ms_count v2x faster_than", {}},
  };
  for (const ClaimCase& c : cases) {
    std::vector<std::string> found;
    for (const Claim& claim : FindClaims(c.text)) found.push_back(claim.text);
    EXPECT_EQ(found, c.claims) << c.text;
  }
}

TEST(FindCitations, ReadsIdsAndHashes) {
  EXPECT_THAT(FindCitations("x [nnk:a-1] [nnk:b.2@0123abcd] [nnk:<id>] [nnk:../x] [nnk:c"),
              ElementsAre("a-1", "b.2"));
}

const char kOurs[] = "metadata:\n  kb-topics: copy\n";

TEST(LintClaims, OursMustCiteInTheSameParagraph) {
  const Diagnostics found = LintSkillText(
      Skill(kOurs, "It is 2x faster [nnk:a].\n\nIt moves\n1.9 TB/s.\n\n- 45 us\n- 9 us [nnk:a]\n"));
  std::vector<int> lines;
  for (const Diagnostic& diagnostic : found) {
    EXPECT_EQ(diagnostic.rule, "skill-unproved-number");
    EXPECT_EQ(diagnostic.severity, Severity::kError);
    lines.push_back(diagnostic.line);
  }
  EXPECT_THAT(lines, ElementsAre(11, 13));
}

TEST(LintClaims, OursMustCiteInTablesCodeAndDescriptions) {
  EXPECT_THAT(LintSkillText(Skill(kOurs, "Rows [nnk:a]:\n| x | 2 us |\n|---|---|\n| y | 3 us |\n")),
              IsEmpty());
  EXPECT_TRUE(Has(LintSkillText(Skill(kOurs, "| x | 2 us |\n")), "skill-unproved-number"));
  EXPECT_TRUE(Has(LintSkillText(Skill(kOurs, "See:\n\n```\n// 2x faster\n```\n")),
                  "skill-unproved-number"));
  EXPECT_THAT(LintSkillText(Skill(kOurs, "See [nnk:a]:\n\n```\n// 2x faster\n```\n")), IsEmpty());
  const std::string front = "---\nname: tiled-copy\nlicense: MIT\ndescription: 2x faster copies. ";
  const Diagnostics found = LintSkillText(front + "Use when\n" + kOurs + "---\n");
  ASSERT_THAT(Rules(found), ElementsAre("skill-unproved-number"));
  EXPECT_EQ(found[0].line, 4);
  EXPECT_THAT(LintSkillText(front + "Use when\n" + kOurs + "  kb-evidence: a\n---\n"), IsEmpty());
}

TEST(LintClaims, OthersMustNameTheirHardware) {
  EXPECT_THAT(Rules(LintSkillText(Skill("", "It is 2x faster.\n"))),
              ElementsAre("claim-without-hardware"));
  EXPECT_THAT(LintSkillText(Skill("", "It is 2x faster on an H100.\n")), IsEmpty());
  EXPECT_THAT(LintSkillText(Skill("", "It is 2x faster [nnk:a].\n")), IsEmpty());
  EXPECT_THAT(LintSkillText(Skill("", "Wait 100 ms.\n")), IsEmpty());
  EXPECT_THAT(LintSkillText(Skill("", "```\nprint(\"2x faster\")\n```\n")), IsEmpty());
}

TEST(LintClaims, PagesAreStrictWhenTheCallerSaysSo) {
  LintContext strict;
  strict.strict_claims = true;
  EXPECT_THAT(LintText("s/references/p.md", "Wait 100 ms.\n"), IsEmpty());
  EXPECT_THAT(Rules(LintText("s/references/p.md", "Wait 100 ms.\n", strict)),
              ElementsAre("skill-unproved-number"));
}

TEST(LintClaims, CitedEntriesMustExistAndStand) {
  LintContext context;
  context.entry_state = [](std::string_view id) {
    return std::string(id == "good"  ? "proved"
                       : id == "old" ? "stale"
                       : id == "bad" ? "refuted"
                                     : "");
  };
  const std::string text =
      Skill("metadata:\n  kb-evidence: good lost\n",
            "[nnk:good]\n[nnk:old]\n[nnk:bad@1234]\n[nnk:none]\n`[nnk:<id>]`\n");
  const Diagnostics found = LintSkillText(text, context);
  std::vector<std::pair<int, std::string>> got;
  for (const Diagnostic& diagnostic : found) got.emplace_back(diagnostic.line, diagnostic.rule);
  EXPECT_THAT(got, ElementsAre(std::pair(6, std::string("cite-missing")),
                               std::pair(9, std::string("cite-stale")),
                               std::pair(10, std::string("cite-stale")),
                               std::pair(11, std::string("cite-missing"))));
  EXPECT_THAT(LintSkillText(text), IsEmpty());  // nobody to ask
}

TEST(Lint, SortsByLineAndKeepsTheFindingsOfParsing) {
  const Diagnostics found = LintSkillText("---\nname: tiled-copy\n---\n```\ncurl x.y | sh\n");
  EXPECT_TRUE(Has(found, "markdown-fence"));
  EXPECT_TRUE(Has(found, "safety-pipe-to-shell"));
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const auto& a, const auto& b) { return a.line < b.line; }));
}

TEST(Lint, TakesAnEmptyFile) {
  EXPECT_THAT(LintText("a/page.md", ""), IsEmpty());
  EXPECT_TRUE(Has(LintText("a/SKILL.md", ""), "skill-name-missing"));
}

TEST(Lint, ShortensLongValuesAtWholeCharacters) {
  EXPECT_EQ(Quoted("a"), "\"a\"");
  EXPECT_EQ(Quoted(std::string(100, 'a')), '"' + std::string(60, 'a') + "...\"");
  EXPECT_EQ(Quoted(std::string(59, 'a') + "\xC3\xA9z"), '"' + std::string(59, 'a') + "...\"");
}

}  // namespace
}  // namespace kb
