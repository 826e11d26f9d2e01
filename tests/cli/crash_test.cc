// `kb index` killed anywhere, twice at once, without space or without the right to write: what
// `kb search` then finds is one whole index, the old one or the new one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <random>

#include "tests/cli/child.h"
#include "tests/cli/cli_fixture.h"

namespace kb {
namespace {

using test::Child;
using test::ChildResult;
using test::Millis;
using test::PrivateMounts;
using test::RunKb;
using testing::AnyOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr int kSkills = 60;
constexpr int kKills = 50;

std::string Word(int generation) {
  return std::string("gen") + static_cast<char>('a' + generation % 26) +
         static_cast<char>('a' + generation / 26 % 26) + "x";
}

class CrashTest : public CliTest {
 protected:
  // Each skill says the word of its generation beside one that all have.
  static void WriteGeneration(const std::string& word, int skills = kSkills) {
    for (int i = 0; i < skills; ++i) {
      const std::string text = "Common " + word + " skill.";
      std::string body = text + "\n";
      for (int j = 0; j < 60; ++j) body += "\nLine " + std::to_string(j * 977 + i) + " of it.\n";
      WriteSkill("s" + std::to_string(i), text, body);
    }
  }

  static std::vector<std::string> Snippets(const std::string& question,
                                           const std::vector<std::string>& options = {},
                                           const std::function<void()>& before = {}) {
    std::vector<std::string> words = {"search", question, "-k", "1000", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    const ChildResult result = RunKb(words, Millis(60000), before);
    EXPECT_THAT(result.exit_code, AnyOf(0, 1)) << result.talk;
    std::vector<std::string> snippets;
    const auto answer = ParseJson(result.out);
    if (!answer) {
      ADD_FAILURE() << "no JSON: " << result.out << result.talk;
      return {};
    }
    for (const Value& hit : (*answer)["hits"].AsList()) {
      snippets.push_back(hit["snippet"].AsString());
    }
    return snippets;
  }

  // The word of the one generation that the whole index is of; "" and a failure if there is
  // none. Postings and texts are both asked.
  static std::string WordOfWholeIndex(const std::vector<std::string>& words,
                                      const std::vector<std::string>& options = {},
                                      const std::function<void()>& before = {},
                                      int skills = kSkills) {
    const std::vector<std::string> all = Snippets("common", options, before);
    EXPECT_THAT(all, SizeIs(skills));
    std::string found;
    for (const std::string& word : words) {
      const std::vector<std::string> with = Snippets(word, options, before);
      if (with.empty()) continue;
      EXPECT_EQ(found, "") << "two generations in one index";
      EXPECT_THAT(with, SizeIs(skills)) << word;
      EXPECT_THAT(all, Each(HasSubstr(word)));
      found = word;
    }
    EXPECT_NE(found, "") << "no generation is found";
    return found;
  }

  static double TimeOf(const std::vector<std::string>& words) {
    std::vector<double> times;
    for (int i = 0; i < 3; ++i) {
      WriteGeneration(Word(i));
      times.push_back(RunKb(words).wall_s);
    }
    std::sort(times.begin(), times.end());
    return times[1];
  }

  static void KillAnywhere(const std::vector<std::string>& words, int kills) {
    WriteGeneration(Word(0));
    ASSERT_EQ(RunKb({"index"}).exit_code, 0);
    const double whole_s = TimeOf(words);
    std::string current = Word(2);
    std::mt19937_64 random(20260717);
    int old_seen = 0, new_seen = 0;
    for (int i = 0; i < kills; ++i) {
      const std::string next = Word(i + 3);
      WriteGeneration(next);
      const double part = (i + std::uniform_real_distribution<>(0, 1)(random)) / kills;
      {
        std::vector<std::string> argv = words;
        argv.insert(argv.begin(), KB_BINARY);
        const Child child(argv);
        usleep(static_cast<useconds_t>(part * 1.3 * whole_s * 1e6));
      }  // killed here
      SCOPED_TRACE("killed after " + std::to_string(part * 130) + " % of a run");
      const std::string found = WordOfWholeIndex({current, next});
      if (testing::Test::HasFailure()) return;  // one account of a defect is enough
      (found == next ? new_seen : old_seen) += 1;
      current = found;
    }
    EXPECT_GT(old_seen, 0);
    RecordProperty("old_seen", old_seen);
    RecordProperty("new_seen", new_seen);
    WriteGeneration("lastly");
    EXPECT_EQ(RunKb(words).exit_code, 0);
    EXPECT_EQ(WordOfWholeIndex({current, "lastly"}), "lastly");
  }
};

TEST_F(CrashTest, KilledAnywhereTheOldOrTheNewIndexAnswers) { KillAnywhere({"index"}, kKills); }

TEST_F(CrashTest, KilledWhileRebuildingTheOldOrTheNewIndexAnswers) {
  KillAnywhere({"index", "--rebuild"}, kKills / 2);
}

TEST_F(CrashTest, KilledInItsFirstRunThereIsNoIndexOrAWholeOne) {
  WriteGeneration("first");
  const double whole_s = RunKb({"index"}).wall_s;
  for (int i = 0; i < 12; ++i) {
    std::filesystem::remove_all(".kb");
    {
      const Child child({KB_BINARY, "index"});
      usleep(static_cast<useconds_t>(i / 10.0 * whole_s * 1e6));
    }
    const ChildResult result = RunKb({"search", "common"});
    if (result.exit_code == 2) {
      EXPECT_THAT(result.talk, HasSubstr("run kb index")) << i;
    } else {
      EXPECT_EQ(WordOfWholeIndex({"first"}), "first") << i;
    }
    EXPECT_EQ(RunKb({"index"}).exit_code, 0) << i;
    EXPECT_EQ(WordOfWholeIndex({"first"}), "first") << i;
  }
}

TEST_F(CrashTest, TwoAtOnceBothEndWellAndLeaveOneWholeIndex) {
  for (int i = 0; i < 5; ++i) {
    WriteGeneration(Word(i));
    Child one({KB_BINARY, "index"}), other({KB_BINARY, "index"});
    for (Child* child : {&one, &other}) {
      const ChildResult result = child->Wait(Millis(60000));
      EXPECT_EQ(result.exit_code, 0) << result.talk;
    }
    EXPECT_EQ(WordOfWholeIndex({Word(i)}), Word(i));
  }
}

TEST_F(CrashTest, WhoSearchesWhileOthersIndexSeesOneGeneration) {
  WriteGeneration(Word(0));
  ASSERT_EQ(RunKb({"index"}).exit_code, 0);
  for (int i = 1; i <= 10; ++i) {
    WriteGeneration(Word(i));
    Child writer({KB_BINARY, "index"});
    for (int look = 0; look < 4; ++look) {
      const std::vector<std::string> all = Snippets("common");
      EXPECT_THAT(all, SizeIs(kSkills));
      EXPECT_THAT(all, AnyOf(Each(HasSubstr(Word(i - 1))), Each(HasSubstr(Word(i)))));
    }
    EXPECT_EQ(writer.Wait(Millis(60000)).exit_code, 0);
  }
}

// One line on standard error that begins with the command.
void ExpectClearError(const ChildResult& result) {
  EXPECT_EQ(result.exit_code, 2) << result.Both();
  EXPECT_THAT(result.talk, StartsWith("kb index: "));
  EXPECT_THAT(result.talk, EndsWith("\n"));
  EXPECT_EQ(std::count(result.talk.begin(), result.talk.end(), '\n'), 1) << result.talk;
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(CrashTest, AReadOnlyFolderIsAClearErrorAndIsSearchedStill) {
  WriteGeneration("olden");
  ASSERT_EQ(RunKb({"index"}).exit_code, 0);
  WriteGeneration("newer");
  const std::string here = std::filesystem::current_path();
  const PrivateMounts mounts([&] {
    const char* path = here.c_str();
    if (mount(path, path, nullptr, MS_BIND, nullptr) != 0) return errno;
    return mount(nullptr, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0 ? 0
                                                                                         : errno;
  });
  if (!mounts.error().empty()) GTEST_SKIP() << "cannot mount read-only: " << mounts.error();
  const auto enter = [&] { mounts.Enter(here); };
  ExpectClearError(RunKb({"index"}, Millis(60000), enter));
  ExpectClearError(RunKb({"index", "--rebuild"}, Millis(60000), enter));
  EXPECT_EQ(WordOfWholeIndex({"olden", "newer"}, {}, enter), "olden");
}

// A disk of its own for the index, which can be filled but for a few bytes.
class FullDiskTest : public CrashTest {
 protected:
  void SetUp() override {
    CrashTest::SetUp();
    here_ = std::filesystem::current_path();
    std::filesystem::create_directory("small");
    const std::string small = here_ + "/small";
    mounts_ = std::make_unique<PrivateMounts>(
        [&] { return mount("none", small.c_str(), "tmpfs", 0, "size=8m") == 0 ? 0 : errno; });
    if (!mounts_->error().empty()) GTEST_SKIP() << "cannot mount a disk: " << mounts_->error();
    disk_ = mounts_->Outside(small);
    WriteGeneration("olden");
    ASSERT_EQ(Index("--rebuild").exit_code, 0);
    WriteGeneration("newer");
  }

  [[nodiscard]] ChildResult Index(const char* how) const {
    return RunKb({"index", how, "--kb-dir", "small/.kb"}, Millis(60000), Enter());
  }
  [[nodiscard]] std::function<void()> Enter() const {
    return [this] { mounts_->Enter(here_); };
  }
  [[nodiscard]] std::string Word() const {
    return WordOfWholeIndex({"olden", "newer"}, {"--kb-dir", "small/.kb"}, Enter());
  }
  void Free() const { std::filesystem::remove(disk_ + "/filler"); }
  void FillBut(int64_t left_kib) const {
    Free();
    struct statvfs info = {};
    ASSERT_EQ(statvfs(disk_.c_str(), &info), 0);
    const auto free = static_cast<int64_t>(info.f_bavail * info.f_bsize) - left_kib * 1024;
    std::ofstream(disk_ + "/filler") << std::string(static_cast<size_t>(free), 'x');
  }

 private:
  std::string here_, disk_;
  std::unique_ptr<PrivateMounts> mounts_;
};

TEST_F(FullDiskTest, IndexingIsAClearErrorAndTheOldIndexStays) {
  int failed = 0;
  for (const int64_t left_kib : {0, 4, 16, 40, 80, 150, 250, 400}) {
    for (const char* how : {"--quiet", "--rebuild"}) {
      SCOPED_TRACE(std::to_string(left_kib) + " KiB left, " + how);
      FillBut(left_kib);
      const ChildResult result = Index(how);
      Free();
      if (result.exit_code == 0) {  // there was enough: back to the old one
        WriteGeneration("olden");
        ASSERT_EQ(Index("--quiet").exit_code, 0);
        WriteGeneration("newer");
        continue;
      }
      ++failed;
      ExpectClearError(result);
      EXPECT_EQ(Word(), "olden");
    }
  }
  EXPECT_GE(failed, 8);
  EXPECT_EQ(Index("--quiet").exit_code, 0);
  EXPECT_EQ(Word(), "newer");
}

TEST_F(FullDiskTest, IsSearchedStill) {
  for (const int64_t left_kib : {0, 16, 80}) {
    SCOPED_TRACE(std::to_string(left_kib) + " KiB left");
    FillBut(left_kib);
    EXPECT_EQ(Word(), "olden");
    ExpectClearError(Index("--quiet"));
    EXPECT_EQ(Word(), "olden") << "after an attempt to index";
  }
}

TEST_F(CrashTest, AFileThatMayNotGrowIsAClearErrorAndTheOldIndexAnswers) {
  WriteGeneration("olden");
  ASSERT_EQ(RunKb({"index"}).exit_code, 0);
  WriteGeneration("newer");
  for (const rlim_t most : {1000, 50000, 200000}) {
    SCOPED_TRACE(most);
    ExpectClearError(RunKb({"index"}, Millis(60000), [&] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit = {most, most};
      setrlimit(RLIMIT_FSIZE, &limit);
    }));
    EXPECT_EQ(WordOfWholeIndex({"olden", "newer"}), "olden");
  }
}

}  // namespace
}  // namespace kb
