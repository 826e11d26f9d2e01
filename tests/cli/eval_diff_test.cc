#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/git_tree.h"
#include "kb/error.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/skill_rules.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class EvalDiff : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (!fs::exists("/usr/bin/git")) GTEST_SKIP() << "no /usr/bin/git here";
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) unsetenv(name);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    ::setenv("GIT_CEILING_DIRECTORIES", fs::current_path().parent_path().c_str(), 1);
    WriteSkill("bank-conflicts", "Use when shared memory has bank conflicts.",
               "Pad the rows of the tile so that columns fall into different banks.");
    WriteSkill("coalescing", "Use when global loads are uncoalesced.",
               "Neighbouring threads read neighbouring words of a sector.");
    Write("questions.jsonl",
          "{\"id\": \"q1\", \"query\": \"bank conflicts in shared memory\", \"expected\": "
          "\"bank-conflicts\"}\n"
          "{\"id\": \"q2\", \"query\": \"register spills to local memory\", \"expected\": "
          "\"register-spills\"}\n");
  }

  static void Git(std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c",
                                 "init.defaultBranch=main"});
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      execv("/usr/bin/git", argv.data());
      _exit(126);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << words[7];
  }

  static void Commit() {
    Git({"init", "-q", "."});
    Git({"add", "."});
    Git({"commit", "-q", "-m", "first"});
  }

  Result Diff(const std::string& base, bool json = false) {
    std::vector<std::string> words = {"eval", "diff", base, "--queries", "questions.jsonl"};
    if (json) words.push_back("--json");
    return Run(words);
  }

  static std::vector<std::string> Texts(const Value& list) {
    std::vector<std::string> texts;
    for (const Value& item : list.AsList()) texts.push_back(item.AsString());
    return texts;
  }
};

TEST_F(EvalDiff, NamesWhatIsNowFoundAndWasNot) {
  Commit();
  WriteSkill("register-spills", "Use when ptxas reports register spills to local memory.",
             "Lower the live registers: fewer accumulators, launch bounds.");
  WriteSkill("never-asked", "Use when cooking soup.", "Stir the pot slowly.");
  const Value json = Diff("HEAD", true).Json();
  EXPECT_EQ(json["questions"].AsInt(), 2);
  EXPECT_THAT(Texts(json["documents"]["added"]),
              ElementsAre("skills/never-asked/SKILL.md", "skills/register-spills/SKILL.md"));
  bool found = false;
  for (const Value& answer : json["answers"].AsList()) {
    if (answer["id"].AsString() != "q2") continue;
    found = true;
    EXPECT_THAT(Texts(answer["gained"]), testing::Contains("register-spills"));
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(json["right"]["now"].AsInt(), 2);
  EXPECT_LT(json["right"]["before"].AsInt(), 2);
  EXPECT_THAT(Texts(json["silent"]), ElementsAre("never-asked"));
  const Result text = Diff("HEAD");
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, HasSubstr("## What an agent would now retrieve"));
  EXPECT_THAT(text.out, HasSubstr("| register spills to local memory | register-spills"));
  EXPECT_THAT(text.out, HasSubstr("No question finds never-asked"));
  EXPECT_THAT(text.out, HasSubstr("- new: skills/register-spills/SKILL.md"));
}

TEST_F(EvalDiff, AnUnchangedTreeHasNoDifference) {
  Commit();
  const Result result = Diff("HEAD");
  EXPECT_EQ(result.exit_code, 0) << result.talk;
  EXPECT_THAT(result.out, HasSubstr("0 of 2 questions are answered otherwise"));
  EXPECT_THAT(result.out, HasSubstr("None has changed."));
}

TEST_F(EvalDiff, ARemovedSkillIsNoLongerFound) {
  Commit();
  fs::remove_all("skills/bank-conflicts");
  const Value json = Diff("HEAD", true).Json();
  EXPECT_THAT(Texts(json["documents"]["removed"]), ElementsAre("skills/bank-conflicts/SKILL.md"));
  EXPECT_THAT(Texts(json["answers"].AsList().at(0)["lost"]), testing::Contains("bank-conflicts"));
}

TEST_F(EvalDiff, ABaseWithoutContentIsEmpty) {
  fs::rename("skills", "kept");
  Commit();
  fs::rename("kept", "skills");
  const Value json = Diff("HEAD", true).Json();
  EXPECT_EQ(json["documents"]["added"].AsList().size(), 2u);
  EXPECT_EQ(json["right"]["before"].AsInt(), 0);
}

TEST_F(EvalDiff, WhatCannotBeDoneIsOneLine) {
  const auto expect = [&](const Result& result, const char* what) {
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(result.talk, HasSubstr(what));
    EXPECT_EQ(std::count(result.talk.begin(), result.talk.end(), '\n'), 1) << result.talk;
  };
  expect(Diff("HEAD"), "this is no git repository");
  Commit();
  expect(Diff("no-such-branch"), "there is no revision 'no-such-branch'");
  expect(Run({"eval", "diff", "HEAD"}), "cannot read the questions in tests/content/queries.jsonl");
  expect(Run({"eval", "diff", "--queries", "questions.jsonl", "--", "--output=x"}),
         "there is no revision '--output=x'");
  EXPECT_FALSE(fs::exists("x"));
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const Result none = Diff("HEAD");
  setenv("PATH", path.c_str(), 1);
  expect(none, "git is not installed");
}

TEST_F(EvalDiff, TextOfOthersCannotBreakTheTable) {
  Commit();
  Write(
      "questions.jsonl",
      "{\"id\": \"q\", \"query\": \"conflicts | <b>x</b>\\n## y `z` bank\", \"expected\": null}\n");
  fs::remove_all("skills/bank-conflicts");
  WriteSkill("banks", "Use when bank conflicts.", "Conflicts of banks.");
  const std::string out = Diff("HEAD").out;
  EXPECT_THAT(out, HasSubstr("conflicts \\| \\<b\\>x"));
  EXPECT_THAT(out, Not(HasSubstr("\n## y")));
}

TEST_F(EvalDiff, LinksAndOtherFilesOfTheRevisionArePassedOver) {
  fs::create_symlink("/etc/passwd", "skills/link.md");
  Write("skills/data.bin", "x");
  Write("skills/-odd name.md", "# odd\n");
  Commit();
  fs::create_directory("out");
  const GitRevision revision = CheckOutMarkdown("HEAD", {"skills", "traces"}, fs::absolute("out"));
  EXPECT_EQ(revision.files, 3);
  EXPECT_EQ(revision.commit.size(), 40u);
  EXPECT_EQ(test::Slurp("out/skills/-odd name.md"), "# odd\n");
  EXPECT_FALSE(fs::exists("out/skills/data.bin"));
  EXPECT_FALSE(fs::is_symlink("out/skills/link.md"));
}

}  // namespace
}  // namespace kb
