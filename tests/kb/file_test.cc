#include "kb/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "kb/error.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = testing::TempDir() + "kb-file-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }
  std::string Put(const std::string& name, const std::string& bytes = "x") const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  // Names below the root of what was found, and "rule name" of what was not.
  std::vector<std::string> Find(const std::string& root, int max_files = 1000000) {
    diagnostics_.clear();
    std::vector<std::string> names;
    for (const FoundFile& f : FindDocuments(root, &diagnostics_, max_files)) {
      names.push_back(f.path.substr(root_.size() + 1));
    }
    return names;
  }
  std::vector<std::string> Findings() const {
    std::vector<std::string> findings;
    for (const Diagnostic& d : diagnostics_) {
      findings.push_back(d.rule + " " + d.path.substr(std::min(d.path.size(), root_.size() + 1)));
    }
    std::sort(findings.begin(), findings.end());
    return findings;
  }

  std::string root_;
  Diagnostics diagnostics_;
};

TEST_F(FileTest, ReadFileGivesTheBytes) {
  const std::string bytes("a\0\r\n\xFF", 5);
  EXPECT_EQ(ReadFile(Put("a", bytes)), bytes);
  EXPECT_EQ(ReadFile(Put("empty", "")), "");
  EXPECT_EQ(ReadFile(Put("limit", "1234"), nullptr, 4), "1234");
}

TEST_F(FileTest, ReadFileReadsFilesThatSayTheyAreEmpty) {
  const std::optional<std::string> status = ReadFile("/proc/self/status");
  ASSERT_TRUE(status);
  EXPECT_THAT(*status, HasSubstr("Pid:"));
}

TEST_F(FileTest, ReadFileSaysWhyNot) {
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  fs::create_symlink("loop", Path("loop"));
  const struct {
    std::string path;
    const char* why;
  } cases[] = {
      {Path("none"), "No such file"},   {root_, "not a regular file"},
      {Path("fifo"), "not a regular"},  {Put("big", "12345"), "larger than 4 bytes"},
      {Path("loop"), "symbolic links"}, {"", "No such file"},
      {"/dev/null", "not a regular"},   {"/proc/self/status", "larger than 4 bytes"},
  };
  for (const auto& c : cases) {
    std::string why;
    EXPECT_FALSE(ReadFile(c.path, &why, 4)) << c.path;
    EXPECT_THAT(why, HasSubstr(c.why)) << c.path;
  }
}

TEST_F(FileTest, WriteFileAtomicallyReplacesAndKeepsTheMode) {
  const std::string path = Put("a.md", "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  WriteFileAtomically(path, "new");
  EXPECT_EQ(ReadFile(path), "new");
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  WriteFileAtomically(Path("b"), "");
  EXPECT_EQ(ReadFile(Path("b")), "");
  WriteFileAtomically(Path(std::string(255, 'n')), "long name");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 3);
}

TEST_F(FileTest, WriteFileAtomicallyThrowsWhereItCannotWrite) {
  fs::create_directories(Path("folder/inner"));
  for (const std::string& path : {Path("none/a"), Path("folder"), std::string()}) {
    EXPECT_THROW(WriteFileAtomically(path, "x"), Error) << path;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
  EXPECT_TRUE(fs::exists(Path("folder/inner")));
}

TEST_F(FileTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const std::string path = Put("a.md", "old");
  struct rlimit old_limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1 << 16, old_limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string what;
  try {
    WriteFileAtomically(path, std::string(1 << 20, 'n'));
  } catch (const Error& e) {
    what = e.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(what, HasSubstr("File too large"));
  EXPECT_THAT(what, HasSubstr("a.md"));
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), {}), 1);
}

TEST_F(FileTest, FindsMarkdownBelowARootSortedByBytes) {
  for (const char* name : {"b.md", "a/z.MD", "a/y.markdown", "a.md", "a/x.txt", "B.md",
                           ".hidden.md", ".git/c.md", "node_modules/d.md", "folder.md/e.md"}) {
    Put(name);
  }
  EXPECT_THAT(Find(root_ + "//"), ElementsAre(".hidden.md", "B.md", "a.md", "a/y.markdown",
                                              "a/z.MD", "b.md", "folder.md/e.md"));
  EXPECT_THAT(diagnostics_, IsEmpty());
  EXPECT_THAT(Find(Path("a/x.txt")), ElementsAre("a/x.txt"));
  EXPECT_THROW(Find(Path("none")), Error);
}

TEST_F(FileTest, ACandidateBesideItsEntryIsNoDocument) {
  for (const char* name : {"e/NNK.md", "e/candidate/NOTES.md", "e/candidate/deep/x.md", "e/why.md",
                           "other/candidate/NOTES.md"}) {
    Put(name);
  }
  EXPECT_THAT(Find(root_), ElementsAre("e/NNK.md", "e/why.md", "other/candidate/NOTES.md"));
}

TEST_F(FileTest, TheStampChangesWithTheFile) {
  const std::string path = Put("a.md", "x");
  const FileStamp before = FindDocuments(root_, nullptr).at(0).stamp;
  EXPECT_EQ(before.size_bytes, 1);
  EXPECT_EQ(FindDocuments(root_, nullptr).at(0).stamp, before);
  WriteFileAtomically(path, "y");
  EXPECT_FALSE(FindDocuments(root_, nullptr).at(0).stamp == before);
}

TEST_F(FileTest, SymlinksAreFollowedOnceAndOnlyInside) {
  Put("real/a.md");
  Put(".store/b.md");
  Put("x.txt");
  fs::create_directory_symlink("real", Path("again"));
  fs::create_directory_symlink("..", Path("real/up"));
  fs::create_directory_symlink("/etc", Path("out"));
  fs::create_directory_symlink(".store", Path("stored"));
  fs::create_symlink("self", Path("self"));
  fs::create_symlink("nowhere", Path("dead.md"));
  fs::create_symlink("real/a.md", Path("a-link.md"));
  fs::create_symlink("/etc/passwd", Path("passwd.md"));
  fs::create_symlink("x.txt", Path("x.md"));
  EXPECT_THAT(Find(root_), ElementsAre("real/a.md", "stored/b.md", "x.md"));
  EXPECT_THAT(Findings(),
              ElementsAre("file-symlink a-link.md", "file-symlink again", "file-symlink dead.md",
                          "file-symlink out", "file-symlink passwd.md", "file-symlink real/up",
                          "file-symlink self"));
}

TEST_F(FileTest, ARootThatIsASymlinkIsFollowed) {
  Put("real/a.md");
  fs::create_directory_symlink("real", Path("link"));
  EXPECT_THAT(Find(Path("link")), ElementsAre("link/a.md"));
}

TEST_F(FileTest, ASymlinkToASiblingWithTheSamePrefixLeavesTheRoot) {
  Put("in/a.md");
  Put("in2/b.md");
  fs::create_symlink("../in2/b.md", Path("in/b.md"));
  EXPECT_THAT(Find(Path("in")), ElementsAre("in/a.md"));
  EXPECT_EQ(diagnostics_.size(), 1u);
}

TEST_F(FileTest, PassesOverWhatIsNoDocument) {
  ASSERT_EQ(::mkfifo(Path("fifo.md").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  Put("new\nline.md");
  Put("big.md", "");
  fs::resize_file(Path("big.md"), 100 << 20);
  Put("limit.md", "");
  fs::resize_file(Path("limit.md"), static_cast<uintmax_t>(kMaxFileBytes));
  EXPECT_THAT(Find(root_), ElementsAre("limit.md", "new\nline.md"));
  EXPECT_THAT(Findings(), ElementsAre("file-irregular fifo.md", "file-too-large big.md"));
  for (const Diagnostic& d : diagnostics_) {
    EXPECT_EQ(FormatDiagnostic(d).find('\n'), std::string::npos);
  }
}

TEST_F(FileTest, StopsAtTheLargestNumberOfFiles) {
  for (int i = 0; i < 5; ++i) Put(std::to_string(i) + ".md");
  EXPECT_EQ(Find(root_, 5).size(), 5u);
  EXPECT_THAT(diagnostics_, IsEmpty());
  EXPECT_EQ(Find(root_, 4).size(), 4u);
  EXPECT_THAT(Findings(), ElementsAre("file-too-many "));
}

TEST_F(FileTest, BoundsWhatOneBundleHolds) {
  for (const char* name : {"a/SKILL.md", "a/r/1.md", "a/r/2.md", "b/NNK.md", "b/1.md", "x.md"}) {
    Put(name);
  }
  Diagnostics diagnostics;
  EXPECT_EQ(FindDocuments(root_, &diagnostics, 100, 3).size(), 6u);
  EXPECT_THAT(diagnostics, IsEmpty());
  EXPECT_EQ(FindDocuments(root_, &diagnostics, 100, 1).size(), 3u);
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].rule, "bundle-too-many");
  EXPECT_EQ(diagnostics[0].path, Path("a"));
  EXPECT_EQ(diagnostics[1].path, Path("b"));
}

TEST_F(FileTest, AFolderWithoutPermissionIsReported) {
  Put("open/a.md");
  Put("closed/b.md");
  ASSERT_EQ(::chmod(root_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0), 0);
  // Root reads everything, so the search is made as nobody.
  const uid_t user = ::geteuid();
  ASSERT_EQ(user == 0 ? ::seteuid(65534) : 0, 0);
  const std::vector<std::string> found = Find(root_);
  ASSERT_EQ(user == 0 ? ::seteuid(0) : 0, 0);
  ASSERT_EQ(::chmod(Path("closed").c_str(), 0700), 0);
  EXPECT_THAT(found, ElementsAre("open/a.md"));
  EXPECT_THAT(Findings(), ElementsAre("file-unreadable closed"));
}

TEST_F(FileTest, AFolderDeeperThanAPathCanSayIsReported) {
  const std::string name(200, 'd');
  const int home = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::chdir(root_.c_str()), 0);
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(::mkdir(name.c_str(), 0700), 0);
    ASSERT_EQ(::chdir(name.c_str()), 0);
  }
  ASSERT_EQ(::fchdir(home), 0);
  ::close(home);
  Put("a.md");
  EXPECT_THAT(Find(root_), ElementsAre("a.md"));
  ASSERT_EQ(diagnostics_.size(), 1u);
  EXPECT_EQ(diagnostics_[0].rule, "file-unreadable");
}

TEST(DirName, AndBaseNameSplitAPath) {
  const struct {
    const char *path, *dir, *base;
  } cases[] = {{"a/b/c.md", "a/b", "c.md"},
               {"c.md", "", "c.md"},
               {"/c", "", "c"},
               {"a/", "a", ""},
               {"", "", ""}};
  for (const auto& c : cases) {
    EXPECT_EQ(DirName(c.path), c.dir);
    EXPECT_EQ(BaseName(c.path), c.base);
  }
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  const struct {
    std::string text;
    const char* shown;
  } cases[] = {
      {"plain é 日本 😀", "plain é 日本 😀"},
      {"a\nb\tc\x7f", "a\\x0Ab\\x09c\\x7F"},
      {std::string("\0", 1), "\\x00"},
      {"\xFF\xC3", "\\xFF\\xC3"},
      {"\xC2\x9B", "\\xC2\\x9B"},
      {"\xE2\x80\xAE", "\\xE2\\x80\\xAE"},
      {"\xED\xA0\x80", "\\xED\\xA0\\x80"},
      {"\xC0\x80", "\\xC0\\x80"},
      {"\xC2\xA0", "\xC2\xA0"},
      {"\xF4\x90\x80\x80", "\\xF4\\x90\\x80\\x80"},
  };
  for (const auto& c : cases) EXPECT_EQ(Printable(c.text), c.shown);
}

}  // namespace
}  // namespace kb
