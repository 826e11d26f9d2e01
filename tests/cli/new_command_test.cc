#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/skill_rules.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using testing::HasSubstr;

class NewCommand : public CliTest {
 protected:
  // The rules that lint finds broken in `path`, with how often.
  std::map<std::string, int> Rules(const std::string& path) {
    std::map<std::string, int> rules;
    const Value json = Run({"lint", path, "--json"}).Json();
    for (const Value& found : json["diagnostics"].AsList()) {
      ++rules[found["rule"].AsString()];
    }
    return rules;
  }
};

TEST_F(NewCommand, ASkillKeepsTheSpecificationAndLintNamesWhatIsLeft) {
  const Result result = Run({"new", "skill", "bank-conflicts"});
  EXPECT_EQ(result.exit_code, 0) << result.talk;
  EXPECT_EQ(result.out, "skills/bank-conflicts/SKILL.md\n");
  EXPECT_THAT(test::CheckSkillText(Slurp("skills/bank-conflicts/SKILL.md"), "bank-conflicts"),
              testing::IsEmpty());
  const auto rules = Rules("skills");
  EXPECT_EQ(rules.size(), 1u) << "nothing else is wrong with it";
  EXPECT_GE(rules.at("scaffold-placeholder"), 7);
  EXPECT_EQ(Run({"lint", "skills"}).exit_code, 0) << "warnings, not errors";
  std::string why;
  EXPECT_TRUE(ParseJson(Slurp("skills/bank-conflicts/evals/evals.json"), &why)) << why;
}

TEST_F(NewCommand, ATraceHasNothingWrongButWhatIsLeft) {
  const Result result = Run({"new", "trace", "softmax-1", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.talk;
  const std::string path = result.Json()["path"].AsString();
  EXPECT_THAT(path, testing::MatchesRegex("traces/[0-9]{4}/softmax-1.md"));
  const auto rules = Rules("traces");
  EXPECT_EQ(rules.size(), 1u);
  EXPECT_GE(rules.at("scaffold-placeholder"), 7);
}

TEST_F(NewCommand, WhatIsFilledInLintsClean) {
  EXPECT_EQ(Run({"new", "skill", "a"}).exit_code, 0);
  std::string text = Slurp("skills/a/SKILL.md");
  for (size_t at = text.find("[fill in: "); at != std::string::npos; at = text.find("[fill in: ")) {
    text.replace(at, text.find(']', at) - at + 1, "written");
  }
  Write("skills/a/SKILL.md", text);
  EXPECT_TRUE(Rules("skills").empty());
}

TEST_F(NewCommand, BadNamesAreRefusedWithTheirMend) {
  const std::pair<const char*, const char*> cases[] = {
      {"Bank Conflicts", "try: kb new skill bank-conflicts"},
      {"a--b", "try: kb new skill a-b"},
      {"../up", "try: kb new skill up"},
      {"-x", "unknown option"},
      {"\xE6\xBC\xA2", "think of another"},
      {"a/b", "try: kb new skill a-b"}};
  for (const auto& [name, mend] : cases) {
    const Result result = Run({"new", "skill", name});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.talk, HasSubstr(mend)) << name;
  }
  EXPECT_FALSE(fs::exists("skills"));
}

TEST_F(NewCommand, NothingIsOverwritten) {
  for (const char* kind : {"skill", "trace"}) {
    EXPECT_EQ(Run({"new", kind, "x"}).exit_code, 0);
    const Result again = Run({"new", kind, "x"});
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.talk, HasSubstr("is there already"));
  }
  fs::create_directories("skills");
  fs::create_symlink("nowhere", "skills/y");
  EXPECT_EQ(Run({"new", "skill", "y"}).exit_code, 2) << "a link that leads nowhere";
}

TEST_F(NewCommand, MakesItWhereItIsTold) {
  EXPECT_EQ(Run({"new", "skill", "x", "--dir", "deep/er"}).exit_code, 0);
  EXPECT_TRUE(fs::exists("deep/er/x/SKILL.md"));
  EXPECT_EQ(Run({"new"}).exit_code, 2);
  EXPECT_EQ(Run({"new", "skill"}).exit_code, 2);
}

}  // namespace
}  // namespace kb
