#include "cli/git_tree.h"

#include <fcntl.h>
#include <spawn.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "kb/error.h"
#include "kb/file.h"

extern char** environ;

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxOutput = 1LL << 30;  // of one git command

struct GitResult {
  int exit_code = -1;
  std::string out, talk;
};

// Runs git with these words; its streams are files in `folder`, so nothing can block.
class Git {
 public:
  explicit Git(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] GitResult Run(std::vector<std::string> words, std::string_view input = "") const {
    const std::string in = folder_ + "/git-in", out = folder_ + "/git-out";
    const std::string talk = folder_ + "/git-talk";
    WriteFileAtomically(in, input);
    words.insert(words.begin(), {"git", "--no-pager"});
    GitResult result;
    result.exit_code = Spawn(words, in, out, talk);
    if (result.exit_code == 127) return result;
    std::string why;
    result.out = ReadFile(out, &why, kMaxOutput).value_or("");
    result.talk = ReadFile(talk, nullptr, 1 << 20).value_or("");
    for (const std::string& path : {in, out, talk}) ::unlink(path.c_str());
    if (!why.empty()) throw Error("cannot read what git said: " + why + "; free some disk");
    return result;
  }

 private:
  // The exit code; 127: there is no git.
  static int Spawn(const std::vector<std::string>& words, const std::string& in,
                   const std::string& out, const std::string& talk) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kWrite, 0600);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, talk.c_str(), kWrite, 0600);
    pid_t child = -1;
    const int failed = ::posix_spawnp(&child, "git", &actions, nullptr, argv.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return 127;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string folder_;
};

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// Its output, or Error with git's own words.
std::string Must(const GitResult& result, const std::string& what, const std::string& mend) {
  if (result.exit_code == 0) return result.out;
  const std::string why = result.exit_code == 127 ? "git is not installed" : FirstLine(result.talk);
  throw Error(what + (why.empty() ? "" : ": " + why) + "; " + mend);
}

struct Blob {
  std::string hash, path;
  int64_t size = 0;
};

bool IsMarkdown(std::string_view path) {
  const std::string end(path.substr(std::min(path.rfind('.'), path.size())));
  return strcasecmp(end.c_str(), ".md") == 0 || strcasecmp(end.c_str(), ".markdown") == 0;
}

// A tree object may hold any name, also ones that no checkout would write.
bool StaysBelow(std::string_view path) {
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return true;
}

// "MODE blob HASH SIZE\tPATH".
std::optional<Blob> ReadTreeLine(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos || !line.starts_with("100")) return std::nullopt;
  Blob blob;
  blob.path = line.substr(tab + 1);
  const std::string_view fields = line.substr(0, tab);
  const size_t hash = fields.find(" blob ");
  if (hash == std::string_view::npos) return std::nullopt;
  blob.hash = fields.substr(hash + 6, fields.find(' ', hash + 6) - hash - 6);
  const std::string_view size = fields.substr(fields.rfind(' ') + 1);
  std::from_chars(size.data(), size.data() + size.size(), blob.size);
  const bool good = IsMarkdown(blob.path) && StaysBelow(blob.path) && blob.size <= kMaxFileBytes;
  return good ? std::optional<Blob>(blob) : std::nullopt;
}

std::vector<Blob> ReadTree(std::string_view listing) {
  std::vector<Blob> blobs;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\0'), listing.size());
    if (auto blob = ReadTreeLine(listing.substr(0, end))) blobs.push_back(std::move(*blob));
    listing.remove_prefix(std::min(listing.size(), end + 1));
  }
  return blobs;
}

// The answers of `cat-file --batch`: "HASH blob SIZE\n" BYTES "\n", in the order asked.
void WriteBlobs(const std::vector<Blob>& blobs, std::string_view answers,
                const std::string& folder) {
  for (const Blob& blob : blobs) {
    const size_t line = answers.find('\n');
    const std::string header = blob.hash + " blob " + std::to_string(blob.size);
    const auto size = static_cast<size_t>(blob.size);
    if (line == std::string_view::npos || answers.substr(0, line) != header ||
        answers.size() - line - 1 < size + 1) {
      throw Error("git does not have all of " + Printable(blob.path) +
                  "; fetch it: git fetch --unshallow, or without --filter");
    }
    const fs::path path = fs::path(folder) / blob.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    WriteFileAtomically(path.string(), answers.substr(line + 1, size));
    answers.remove_prefix(line + 1 + size + 1);
  }
}

}  // namespace

GitRevision CheckOutMarkdown(const std::string& revision, const std::vector<std::string>& roots,
                             const std::string& folder) {
  const Git git(folder);
  Must(git.Run({"rev-parse", "--git-dir"}), "this is no git repository",
       "run it in a clone, with git installed");
  // A word that begins with '-' would be an option to git.
  const bool is_option = revision.starts_with("-");
  const GitResult named =
      is_option ? GitResult()
                : git.Run({"rev-parse", "--verify", "--quiet", revision + "^{commit}"});
  const std::string commit = FirstLine(
      Must(named, "there is no revision '" + revision + "'", "fetch it, or name another one"));
  std::vector<std::string> words = {"ls-tree", "-r", "-z", "-l", commit, "--"};
  words.insert(words.end(), roots.begin(), roots.end());
  const std::vector<Blob> blobs =
      ReadTree(Must(git.Run(words), "cannot list " + revision, "check the repository: git fsck"));
  std::string wanted;
  for (const Blob& blob : blobs) wanted += blob.hash + "\n";
  const std::string answers = Must(git.Run({"cat-file", "--batch"}, wanted),
                                   "cannot read " + revision, "check the repository: git fsck");
  WriteBlobs(blobs, answers, folder);
  return {commit, static_cast<int>(blobs.size())};
}

}  // namespace kb
