#include "cli/tdd_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <ostream>

#include "kb/error.h"
#include "kb/file.h"
#include "tdd/sanitize.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

bool Holds(const std::string& folder, const char* file) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(folder) / file, ignored);
}

std::vector<std::string> FoldersWith(const std::string& below, const char* file) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(below, error)) {
    if (Holds(entry.path().string(), file)) folders.push_back(entry.path().string());
  }
  std::ranges::sort(folders);
  return folders;
}

std::vector<std::string> Names(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) names.push_back(fs::path(folder).filename().string());
  return names;
}

// `word` itself if it is such a folder, else the one of that name below `below`.
std::string Find(const std::string& word, const std::string& below, const char* file,
                 const char* what) {
  std::string path = word;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (Holds(path, file)) return path;
  if (word.find('/') == std::string::npos && Holds(below + "/" + word, file))
    return below + "/" + word;
  const std::vector<std::string> names = Names(FoldersWith(below, file));
  const std::string nearest = Nearest(word, names);
  throw Error(fmt::format("no {} '{}': neither that folder nor {}/{} has a {}; {}", what,
                          Printable(word), below, Printable(word), file,
                          !nearest.empty() ? "did you mean " + nearest + "?"
                          : names.empty()  ? "there is none in " + below
                                           : fmt::format("there are: {}", fmt::join(names, ", "))));
}

int ParseNumber(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

std::string OwnPath() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error("cannot tell where kb itself is: " + error.message() + "; is /proc mounted?");
  return path.string();
}

}  // namespace

std::string CaseFolder(const std::string& word) {
  return Find(word, kCasesFolder, "case.yaml", "case");
}

std::vector<std::string> AllCaseFolders() { return FoldersWith(kCasesFolder, "case.yaml"); }

std::string CandidateFolder(const std::string& case_folder, const std::string& word) {
  return Find(word, case_folder + "/candidates", "launch.yaml", "candidate");
}

std::vector<std::string> AllCandidateFolders(const std::string& case_folder) {
  return FoldersWith(case_folder + "/candidates", "launch.yaml");
}

std::string EntryFolder(const std::string& word) {
  return Find(word, kNnkFolder, "NNK.md", "entry");
}

std::vector<std::string> AllEntryFolders() { return FoldersWith(kNnkFolder, "NNK.md"); }

Shard ParseShard(const std::string& text) {
  const size_t slash = text.find('/');
  Shard shard;
  if (slash != std::string::npos) {
    shard = {ParseNumber(std::string_view(text).substr(0, slash)),
             ParseNumber(std::string_view(text).substr(slash + 1))};
  }
  if (slash == std::string::npos || shard.index < 0 || shard.count < 1 ||
      shard.index >= shard.count) {
    throw Error("--shard takes I/N with 0 <= I < N, not '" + Printable(text) +
                "'; e.g. --shard 0/4");
  }
  return shard;
}

Workshop::Workshop(const Args& args, Streams& streams) {
  tools_.toolchain = OpenNvrtc(&tools_.no_toolchain);
  tools_.kb = OwnPath();
  tools_.judges_folder = FindKbDir(args) + "/judges";
  tools_.nnk_folder = kNnkFolder;
  tools_.sanitizer = FindComputeSanitizer();
  if (args.Has("--arch")) tools_.arch = args.Get("--arch");
  tools_.workers = args.GetInt("--workers", tools_.workers);
  if (streams.quiet) return;
  std::ostream* talk = &streams.talk;
  tools_.ended = [talk](const StageReport& stage) {
    *talk << fmt::format("{:<10} {:<24} {:6.1f} s  {}\n", stage.name, VerdictName(stage.verdict),
                         stage.seconds, Printable(stage.verdict.message));
    talk->flush();
  };
}

}  // namespace kb
