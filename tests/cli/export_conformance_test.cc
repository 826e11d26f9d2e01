// What kb export writes keeps the specification, whatever the skills look like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/skill_rules.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using test::CheckSkillFolder;
using test::CheckSkillText;
using test::Slurp;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kGood[] =
    "---\nname: x\ndescription: What and when.\nlicense: MIT\nmetadata:\n  a: \"1\"\n---\n# X\n";

TEST(SkillRules, PassAGoodSkill) { EXPECT_THAT(CheckSkillText(kGood, "x"), IsEmpty()); }

// A checker that cannot fail would make all tests below worthless.
TEST(SkillRules, FindEachFault) {
  const std::string good = kGood;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::pair<std::string, const char*> cases[] = {
      {"# X\n", "no front matter"},
      {with("---\nname", "---\n: [\nname"), "front matter is no YAML map"},
      {with("name: x", "name: X"), "bad name"},
      {with("name: x", "name: true"), "bad name"},
      {with("name: x", "name: a--b"), "bad name"},
      {with("name: x", "name: y"), "name is not the folder's"},
      {with("description: What and when.\n", ""), "no description"},
      {with("What and when.", std::string(1025, 'd')), "description too long"},
      {with("What and when.", "\"  \""), "description is no text"},
      {with("What and when.", "[a, b]"), "description is no text"},
      {with("license: MIT", "version: 2"), "unknown key version"},
      {with("license: MIT", "compatibility: " + std::string(501, 'c')), "compatibility too long"},
      {with("license: MIT", "allowed-tools: [Read]"), "allowed-tools is no text"},
      {with("license: MIT", "allowed-tools: Read, Write"), "allowed-tools has commas"},
      {with("a: \"1\"", "a: 1"), "metadata a is no string"},
      {with("a: \"1\"", "a: {b: c}"), "metadata a is no string"},
      {with("# X\n", "\n"), "no body"},
      {good + std::string(501, '\n'), "body over 500 lines"},
      {good + std::string(20004, 'x'), "body over 5,000 tokens"},
      {good + "a\r\n", "CR"},
      {good + "\xFF\n", "not UTF-8"},
      {good + std::string("\0", 1), "NUL"},
  };
  for (const auto& [text, fault] : cases) {
    EXPECT_THAT(CheckSkillText(text, "x"), Contains(HasSubstr(fault))) << fault;
  }
}

class ExportConformance : public CliTest {
 protected:
  // Exports to "out" and returns the folders of its skills.
  std::vector<fs::path> Export(std::vector<std::string> words, const std::string& skills) {
    words.insert(words.begin(), {"export", "--to", "out"});
    result_ = Run(words);
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator("out/" + skills)) {
      folders.push_back(entry.path());
    }
    return folders;
  }

  static void ExpectConforms(const std::vector<fs::path>& folders) {
    for (const fs::path& folder : folders) {
      EXPECT_THAT(CheckSkillFolder(folder), IsEmpty()) << folder << "\n"
                                                       << Slurp(folder / "SKILL.md").substr(0, 600);
    }
  }

  Result result_;
};

TEST_F(ExportConformance, AllShippedSkillsConformInEachLayout) {
  const std::pair<const char*, const char*> layouts[] = {
      {"agents", ".agents/skills"},
      {"claude", ".claude/skills"},
      {"cursor", ".cursor/skills"},
      {"github", ".github/skills"},
      {"plugin", "plugins/cuda-kernel-knowledge/skills"}};
  for (const auto& [layout, folder] : layouts) {
    const auto folders = Export({"--root", KB_SOURCE_DIR "/skills", "--layout", layout}, folder);
    EXPECT_EQ(result_.exit_code, 0) << result_.talk;
    EXPECT_GE(folders.size(), 10u) << layout;
    ExpectConforms(folders);
    for (const fs::path& skill : folders) {  // nothing of the body is lost
      const fs::path source = fs::path(KB_SOURCE_DIR) / "skills" / skill.filename() / "SKILL.md";
      const std::string whole = Slurp(source);
      EXPECT_THAT(Slurp(skill / "SKILL.md"), HasSubstr(whole.substr(whole.find("\n---\n") + 5)));
    }
  }
}

std::string Lines(int n, const std::string& line) {
  std::string text;
  for (int i = 0; i < n; ++i) text += line + " " + std::to_string(i) + "\n";
  return text;
}

// Every defect that public files were found to have (and some more), each with a licence.
struct Nasty {
  const char* folder;
  std::string text;
  const char* name;  // as exported
  const char* kept;  // what must be in the SKILL.md
};

const std::vector<Nasty>& NastyCorpus() {
  static const std::vector<Nasty> corpus = {
      {"unknown-keys",
       "---\nname: unknown-keys\ndescription: d when\nlicense: MIT\nversion: 1.2\ntags: [a, b]\n"
       "model: {name: x, size: 3}\n---\n# B\n",
       "unknown-keys", "tags: \"a, b\""},
      {"flow-style", "---\n{name: flow-style, description: \"d: when\", license: MIT}\n---\n# B\n",
       "flow-style", "description: \"d: when\""},
      {"tools-list",
       "---\nname: tools-list\ndescription: d\nlicense: MIT\nallowed-tools: [Read, \"Bash(git "
       "add:*)\"]\n---\n# B\n",
       "tools-list", "allowed-tools: \"Read Bash(git add:*)\""},
      {"tools-commas",
       "---\nname: tools-commas\ndescription: d\nlicense: MIT\nallowed-tools: Read, Bash(a,b), "
       "Write\n---\n# B\n",
       "tools-commas", "allowed-tools: \"Read Bash(a,b) Write\""},
      {"nested-metadata",
       "---\nname: nested-metadata\ndescription: d\nlicense: MIT\nmetadata:\n  a: {b: [1, true]}\n"
       "  n: 3\n  on: yes\n---\n# B\n",
       "nested-metadata", "a: \"{\\\"b\\\":[1,true]}\""},
      {"other-folder", "---\nname: My Skill!\ndescription: d\nlicense: MIT\n---\n# B\n", "my-skill",
       "original-name: \"My Skill!\""},
      {"colon", "---\nname: colon\ndescription: Use when: x: y\nlicense: MIT\n---\n# B\n", "colon",
       "Use when: x: y"},
      {"crlf", "---\r\nname: crlf\r\ndescription: d\r\nlicense: MIT\r\n---\r\n# B\r\n\r\ntext\r\n",
       "crlf", "# B\n\ntext\n"},
      {"bom", "\xEF\xBB\xBF---\nname: bom\ndescription: d\nlicense: MIT\n---\n# B\n", "bom", "# B"},
      {"rule-in-body",
       "---\nname: rule-in-body\ndescription: d\nlicense: MIT\n---\n# B\n\n---\n\nlicense: "
       "x\n\n---\n",
       "rule-in-body", "---\n\nlicense: x\n\n---\n"},
      {"four-ticks",
       "---\nname: four-ticks\ndescription: d\nlicense: MIT\n---\n````md\n```cuda\n```\n````\n",
       "four-ticks", "````md\n```cuda\n```\n````\n"},
      {"open-fence",
       "---\nname: open-fence\ndescription: d\nlicense: MIT\n---\n```\nnever closed\n",
       "open-fence", "never closed"},
      {"block-scalar",
       "---\nname: block-scalar\ndescription: |\n  one\n  two\nlicense: MIT\n---\n# B\n",
       "block-scalar", "description: \"one two\""},
      {"no-description", "---\nname: no-description\nlicense: MIT\n---\n# B\n\nTells of banks.\n",
       "no-description", "description: \"Tells of banks.\""},
      {"nothing-but-front", "---\nname: nothing-but-front\ndescription: d\nlicense: MIT\n---\n",
       "nothing-but-front", "# nothing-but-front"},
      {"long-description",
       "---\nname: long-description\ndescription: " + Lines(1, std::string(2000, 'd')) +
           "license: MIT\n---\n# B\n",
       "long-description", "\xE2\x80\xA6"},
      {"long-compatibility",
       "---\nname: long-compatibility\ndescription: d\nlicense: MIT\ncompatibility: " +
           std::string(700, 'c') + "\n---\n# B\n",
       "long-compatibility", "# B"},
      {"true", "---\nname: true\ndescription: d\nlicense: MIT\n---\n# B\n", "true",
       "name: \"true\""},
      {"number", "---\nname: 123\ndescription: 4\nlicense: MIT\n---\n# B\n", "123",
       "description: \"4\""},
      {"umlaut",
       "---\nname: Gr\xC3\xB6\xC3\x9F"
       "e\ndescription: d\nlicense: MIT\n---\n# B\n",
       "gr-e", "# B"},
      {"quotes",
       "---\nname: quotes\ndescription: 'say \"hi\" \\ and # no comment'\nlicense: MIT\n---\n# B\n",
       "quotes", "say \\\"hi\\\" \\\\ and # no comment"},
      {"not-utf8", "---\nname: not-utf8\ndescription: d\xFF\nlicense: MIT\n---\n# B\xFE\n",
       "not-utf8", "# B\xEF\xBF\xBD"},
      {"license-list", "---\nname: license-list\ndescription: d\nlicense: [MIT, BSD]\n---\n# B\n",
       "license-list", "license: \"MIT, BSD\""},
      {"many-lines",
       "---\nname: many-lines\ndescription: d\nlicense: MIT\n---\n# B\n\n## One\n\n" +
           Lines(450, "first") + "\n## Two\n\n" + Lines(450, "second"),
       "many-lines", "[continued.md](continued.md)"},
      {"one-huge-block",
       "---\nname: one-huge-block\ndescription: d\nlicense: MIT\n---\n```\n" +
           Lines(3000, "code code code") + "```\n",
       "one-huge-block", "[continued.md](continued.md)"},
      {"metadata-list",
       "---\nname: metadata-list\ndescription: d\nlicense: MIT\nmetadata: [a, b]\n---\n# B\n",
       "metadata-list", "metadata: \"a, b\""},
      {"control",
       "---\nname: control\ndescription: \"a\\x1b[31mb\\u2028c\\x7f\"\nlicense: MIT\n---\n# B\n",
       "control", "description: \"a [31mb c\""},
  };
  return corpus;
}

TEST_F(ExportConformance, EveryDefectOfPublicFilesComesOutConformant) {
  for (const Nasty& nasty : NastyCorpus()) {
    Write(std::string("skills/") + nasty.folder + "/SKILL.md", nasty.text);
  }
  const auto folders = Export({}, ".agents/skills");
  EXPECT_EQ(result_.exit_code, 0) << result_.talk;
  EXPECT_EQ(folders.size(), NastyCorpus().size()) << result_.talk;
  ExpectConforms(folders);
  for (const Nasty& nasty : NastyCorpus()) {
    const std::string path = std::string("out/.agents/skills/") + nasty.name + "/SKILL.md";
    EXPECT_THAT(Slurp(path), HasSubstr(nasty.kept)) << nasty.folder;
  }
}

TEST_F(ExportConformance, WhatDoesNotFitTheBodyIsInThePageBesideIt) {
  for (const Nasty& nasty : NastyCorpus()) {
    Write(std::string("skills/") + nasty.folder + "/SKILL.md", nasty.text);
  }
  (void)Export({}, ".agents/skills");
  const std::string folder = "out/.agents/skills/many-lines/";
  const std::string rest = Slurp(folder + "continued.md");
  EXPECT_TRUE(rest.starts_with("## Two\n")) << rest.substr(0, 80);
  EXPECT_THAT(rest, HasSubstr("second 449\n"));
  EXPECT_THAT(Slurp(folder + "SKILL.md"), HasSubstr("first 449\n"));
  const std::string huge = Slurp("out/.agents/skills/one-huge-block/continued.md");
  EXPECT_THAT(huge, HasSubstr("code code code 2999\n"));
}

TEST_F(ExportConformance, WhatWasTooLongForAKeyIsKeptUnderMetadata) {
  Write("skills/a/SKILL.md", "---\nname: a\ndescription: " + std::string(700, 'x') + " " +
                                 std::string(700, 'y') + "\nlicense: MIT\n---\n# A\n");
  (void)Export({}, ".agents/skills");
  const std::string text = Slurp("out/.agents/skills/a/SKILL.md");
  EXPECT_THAT(text, HasSubstr("description: \"" + std::string(700, 'x') + "\xE2\x80\xA6\"\n"));
  EXPECT_THAT(text, HasSubstr("  description: \"" + std::string(700, 'x') + " y"));
}

}  // namespace
}  // namespace kb
