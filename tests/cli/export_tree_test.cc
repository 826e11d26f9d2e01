// The old export or the new one, never half, never anything but kb's own.
#include "cli/export_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "kb/error.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/skill_rules.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using testing::HasSubstr;

class ExportTreeTest : public CliTest {
 protected:
  static void Put(const std::string& target, const std::string& name, const std::string& bytes,
                  bool force = false) {
    ExportTree tree(target, force);
    tree.Add(name, bytes);
    tree.Commit();
  }

  static std::string WhyNot(const std::string& target, bool force = false) {
    try {
      Put(target, "new", "new", force);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  // How many entries the working folder has, hidden ones too.
  static auto Count(const std::string& folder = ".") {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }
};

TEST_F(ExportTreeTest, ReplacesNewEmptyAndItsOwnFolders) {
  fs::create_directory("empty");
  Put("a/b/new", "x", "1");
  Put("empty", "x", "1");
  Put("empty", "y", "2");
  EXPECT_FALSE(fs::exists("empty/x")) << "what is no longer exported goes";
  EXPECT_EQ(Slurp("empty/y"), "2");
  EXPECT_EQ(Slurp("a/b/new/x"), "1");
  EXPECT_EQ(Count(), 2) << "nothing stays beside the target";
}

TEST_F(ExportTreeTest, NeverReplacesWhatKbDidNotWrite) {
  Write("mine/AGENTS.md", "mine");
  EXPECT_THAT(WhyNot("mine"), HasSubstr("kb did not write it"));
  EXPECT_THAT(WhyNot("mine", true), HasSubstr("kb did not write it")) << "not even by force";
  Write("file", "mine");
  EXPECT_THAT(WhyNot("file"), HasSubstr("is no folder"));
  Put("ours", "x", "1");
  Write("ours/mine.md", "mine");
  EXPECT_THAT(WhyNot("ours"), HasSubstr("mine.md, which kb did not write"));
  fs::remove("ours/mine.md");
  fs::create_symlink("/etc/passwd", "ours/link");
  EXPECT_THAT(WhyNot("ours"), HasSubstr("link, which kb did not write"));
  fs::remove("ours/link");
  Write("ours/x", "edited");
  EXPECT_THAT(WhyNot("ours"), HasSubstr("x, which was edited since"));
  EXPECT_EQ(Slurp("ours/x"), "edited");
  EXPECT_EQ(WhyNot("ours", true), "");
  EXPECT_EQ(Slurp("ours/new"), "new");
  EXPECT_EQ(Slurp("mine/AGENTS.md") + Slurp("file"), "minemine");
  EXPECT_THAT(WhyNot("."), HasSubstr("the folder that kb works in"));
  EXPECT_THAT(WhyNot("/"), HasSubstr("name a folder of its own"));
}

TEST_F(ExportTreeTest, WhatIsAddedMeanwhileIsNotLost) {
  Put("out", "x", "1");
  ExportTree tree("out", false);
  tree.Add("x", "2");
  Write("out/mine", "mine");
  EXPECT_THROW(tree.Commit(), Error);
  EXPECT_EQ(Slurp("out/mine") + Slurp("out/x"), "mine1");
}

TEST_F(ExportTreeTest, FollowsALinkToTheTargetItself) {
  fs::create_directory("real");
  fs::create_directory_symlink("real", "link");
  Put("link", "x", "1");
  EXPECT_TRUE(fs::is_symlink("link"));
  EXPECT_EQ(Slurp("real/x"), "1");
}

TEST_F(ExportTreeTest, TakesNoPathThatLeadsOut) {
  ExportTree tree("out", false);
  for (const char* path :
       {"", "/x", "../x", "a/../../x", "a//b", "./x", "a/", "a\nb", ".kb-export"}) {
    EXPECT_THROW(tree.Add(path, "x"), Error) << path;
  }
  tree.Add("a/b", "x");
  EXPECT_THROW(tree.Add("a/b", "x"), Error);
  EXPECT_THROW(tree.Add("a", "x"), Error) << "a folder is there";
}

TEST_F(ExportTreeTest, WithoutCommitNothingHappens) {
  Put("out", "x", "1");
  {
    ExportTree tree("out", false);
    tree.Add("x", "2");
  }
  EXPECT_EQ(Slurp("out/x"), "1");
  EXPECT_EQ(Count(), 1);
}

TEST_F(ExportTreeTest, OneAtATime) {
  ExportTree tree("out", false);
  EXPECT_THAT(WhyNot("out"), HasSubstr("another kb export"));
  tree.Add("x", "1");
  tree.Commit();
  EXPECT_EQ(Slurp("out/x"), "1");
}

void ExportHundred(const std::string& name) {
  ExportTree tree("out", false);
  for (int i = 0; i < 100; ++i) tree.Add("d" + std::to_string(i) + "/" + name, name);
  tree.Commit();
}

// Kills an export at 14 moments spread over the time that a whole one takes, from making its
// first file to removing the old one's last.
TEST_F(ExportTreeTest, AKillLeavesTheOldOrTheNew) {
  ExportHundred("old");
  const auto start = std::chrono::steady_clock::now();
  ExportHundred("new");
  const auto whole = std::chrono::steady_clock::now() - start;
  int old_seen = 0, new_seen = 0;
  for (int step = 0; step < 14; ++step) {
    fs::remove_all("out");
    ExportHundred("old");
    const pid_t child = ::fork();
    if (child == 0) {
      ExportHundred("new");
      ::_exit(0);
    }
    std::this_thread::sleep_for(step < 13 ? whole * step / 11 : whole * 10);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const bool is_old = fs::exists("out/d0/old");
    (is_old ? old_seen : new_seen) += 1;
    for (int i = 0; i < 100; ++i) {
      const std::string folder = "out/d" + std::to_string(i);
      EXPECT_EQ(fs::exists(folder + "/old"), is_old) << step;
      EXPECT_EQ(fs::exists(folder + "/new"), !is_old) << step;
    }
    Put("out", "next", "next");  // what the killed one left is no obstacle
    EXPECT_EQ(Slurp("out/next"), "next");
    EXPECT_EQ(Count(), 1) << step;
  }
  EXPECT_GT(old_seen, 0);
  EXPECT_GT(new_seen, 0);
}

TEST_F(ExportTreeTest, TakesOverWhatAKilledOneLeftButNothingElse) {
  Write(".out.kb-export-new/.kb-export", "");
  Write(".out.kb-export-new/d/half", "half");
  Put("out", "x", "1");
  EXPECT_FALSE(fs::exists("out/d"));
  EXPECT_EQ(Count(), 1);
  Write(".out.kb-export-new/mine", "mine");
  EXPECT_THAT(WhyNot("out"), HasSubstr("is in the way and is not of kb"));
  EXPECT_EQ(Slurp(".out.kb-export-new/mine"), "mine");
}

TEST_F(ExportTreeTest, TheMarkerIsWhatSha256sumReads) {
  Put("out", "a b", "x");
  EXPECT_EQ(Slurp("out/.kb-export"),
            "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  a b\n");
}

}  // namespace
}  // namespace kb
