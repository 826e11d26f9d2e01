#include <dirent.h>
#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <unordered_map>

#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

bool EndsWithNoCase(std::string_view name, std::string_view suffix) {
  return name.size() >= suffix.size() && ::strncasecmp(name.data() + name.size() - suffix.size(),
                                                       suffix.data(), suffix.size()) == 0;
}

bool IsMarkdownName(std::string_view name) {
  return EndsWithNoCase(name, ".md") || EndsWithNoCase(name, ".markdown");
}

bool IsSkippedFolder(std::string_view name) {
  return name.empty() || name[0] == '.' || name == "node_modules";
}

bool IsBundleIndex(std::string_view name) {
  return (name.size() == 8 && EndsWithNoCase(name, "skill.md")) ||
         (name.size() == 6 && EndsWithNoCase(name, "nnk.md"));
}

// What an entry was proved with is no document of its own: NNK.md holds its text already.
void LeaveOutCandidates(std::vector<FoundFile>& found) {
  std::set<std::string> candidates;
  for (const FoundFile& file : found) {
    if (BaseName(file.path) == "NNK.md") {
      candidates.insert(std::string(DirName(file.path)) + "/candidate");
    }
  }
  std::erase_if(found, [&](const FoundFile& file) {
    for (std::string_view folder = DirName(file.path); !folder.empty(); folder = DirName(folder)) {
      if (candidates.contains(std::string(folder))) return true;
    }
    return false;
  });
}

// Leaves out what is too many in a bundle, the nearest folder at or above a file that has
// an index file. `found` is sorted.
void BoundBundles(int max_bundle, std::vector<FoundFile>& found, Diagnostics* diagnostics) {
  if (static_cast<int>(found.size()) <= max_bundle) return;
  std::unordered_map<std::string, int> counts;  // by folder
  for (const FoundFile& file : found) {
    if (IsBundleIndex(BaseName(file.path))) counts[std::string(DirName(file.path))] = 0;
  }
  const auto is_too_many = [&](const FoundFile& file) {
    for (std::string_view folder = DirName(file.path); !folder.empty(); folder = DirName(folder)) {
      const auto bundle = counts.find(std::string(folder));
      if (bundle == counts.end()) continue;
      if (++bundle->second != max_bundle + 1) return bundle->second > max_bundle;
      if (diagnostics != nullptr) {
        diagnostics->push_back({Severity::kError, "bundle-too-many", bundle->first, 0,
                                "more than " + std::to_string(max_bundle) +
                                    " documents in one bundle; the rest is left out",
                                "split the skill"});
      }
      return true;
    }
    return false;
  };
  std::vector<FoundFile> kept;
  for (FoundFile& file : found) {
    if (!is_too_many(file)) kept.push_back(std::move(file));
  }
  found = std::move(kept);
}

FileStamp StampOf(const struct stat& info) {
  return {info.st_size, info.st_mtim.tv_sec * 1000000000LL + info.st_mtim.tv_nsec,
          static_cast<int64_t>(info.st_ino)};
}

// "" if there is no such path.
std::string RealPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real != nullptr ? real.get() : "";
}

class Walk {
 public:
  Walk(std::string root, Diagnostics* diagnostics, int max_files)
      : root_(std::move(root)), diagnostics_(diagnostics), max_files_(max_files) {}

  std::vector<FoundFile> Run() {
    struct stat info = {};
    if (::stat(root_.c_str(), &info) != 0) {
      throw Error("cannot look into " + Printable(root_) + ": " + std::strerror(errno) +
                  "; name an existing folder or file");
    }
    real_root_ = RealPath(root_);
    if (S_ISDIR(info.st_mode)) {
      folders_.push_back(root_);
      DrainFolders();
      // Links come last, so that a file is found by its real name first.
      for (size_t i = 0; i < links_.size() && !full_; ++i) FollowLink(std::string(links_[i]));
    } else {
      AddFile(root_, info);
    }
    std::sort(found_.begin(), found_.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
    return std::move(found_);
  }

 private:
  using Identity = std::pair<dev_t, ino_t>;

  void Report(Severity severity, const char* rule, const std::string& path, std::string message,
              const char* mend) {
    if (diagnostics_ == nullptr) return;
    diagnostics_->push_back({severity, rule, path, 0, std::move(message), mend});
  }

  void DrainFolders() {
    while (!folders_.empty() && !full_) {
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      ReadFolder(folder);
    }
    folders_.clear();
  }

  void ReadFolder(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
    struct stat info = {};
    if (dir == nullptr || ::fstat(::dirfd(dir.get()), &info) != 0) {
      return Report(Severity::kWarning, "file-unreadable", folder,
                    std::string("the folder cannot be read: ") + std::strerror(errno),
                    "check the permissions and the path's length");
    }
    if (!visited_.insert({info.st_dev, info.st_ino}).second) return;
    const std::string prefix = folder.back() == '/' ? folder : folder + '/';
    while (!full_) {
      errno = 0;
      const dirent* entry = ::readdir(dir.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") AddEntry(prefix + entry->d_name, name, entry->d_type);
    }
    if (errno != 0 && !full_) {
      Report(Severity::kWarning, "file-unreadable", folder,
             std::string("the folder cannot be read to its end: ") + std::strerror(errno),
             "check the disk");
    }
  }

  void AddEntry(const std::string& path, std::string_view name, unsigned char type) {
    const bool markdown = IsMarkdownName(name);
    if (type == DT_REG && !markdown) return;  // without a stat: most files are these
    if (type == DT_DIR) {
      if (!IsSkippedFolder(name)) folders_.push_back(path);
      return;
    }
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0) {
      if (markdown) ReportUnreadable(path);
    } else if (S_ISDIR(info.st_mode)) {
      if (!IsSkippedFolder(name)) folders_.push_back(path);
    } else if (S_ISLNK(info.st_mode)) {
      if (!IsSkippedFolder(name)) links_.push_back(path);
    } else if (markdown) {
      AddFile(path, info);
    }
  }

  void ReportUnreadable(const std::string& path) {
    Report(Severity::kWarning, "file-unreadable", path,
           std::string("cannot be read: ") + std::strerror(errno),
           "check the permissions and the path's length");
  }

  void AddFile(const std::string& path, const struct stat& info) {
    if (!S_ISREG(info.st_mode)) {
      return Report(Severity::kWarning, "file-irregular", path,
                    "no regular file (a FIFO, socket or device)",
                    "remove it or give it another name");
    }
    if (info.st_size > kMaxFileBytes) {
      return Report(Severity::kError, "file-too-large", path,
                    std::to_string(info.st_size) + " bytes; a document has at most " +
                        std::to_string(kMaxFileBytes),
                    "split the document");
    }
    if (static_cast<int>(found_.size()) >= max_files_) {
      full_ = true;
      return Report(Severity::kError, "file-too-many", root_,
                    "more than " + std::to_string(max_files_) + " documents; the rest is left out",
                    "index a smaller folder");
    }
    visited_.insert({info.st_dev, info.st_ino});
    found_.push_back({path, StampOf(info)});
  }

  void ReportLink(const std::string& path, const char* message) {
    Report(Severity::kNote, "file-symlink", path, message,
           "replace the link by what it stands for, or remove it");
  }

  void FollowLink(const std::string& path) {
    const bool markdown = IsMarkdownName(BaseName(path));
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0) {
      if (errno == ELOOP) return ReportLink(path, "a symlink that leads to itself; not followed");
      if (markdown) ReportLink(path, "a symlink that leads nowhere; not followed");
      return;
    }
    if (!S_ISDIR(info.st_mode) && !markdown) return;
    const std::string real = RealPath(path);
    const std::string below = real_root_ == "/" ? "/" : real_root_ + "/";
    if (real != real_root_ && real.compare(0, below.size(), below) != 0) {
      return ReportLink(path, "a symlink that leaves the root; not followed");
    }
    if (visited_.count({info.st_dev, info.st_ino}) != 0) {
      return ReportLink(path, "a symlink to what was found already; not followed");
    }
    if (!S_ISDIR(info.st_mode)) return AddFile(path, info);
    folders_.push_back(path);
    DrainFolders();
  }

  std::string root_;
  std::string real_root_;
  Diagnostics* diagnostics_;
  int max_files_;
  bool full_ = false;
  std::vector<std::string> folders_;  // still to be read
  std::vector<std::string> links_;
  std::set<Identity> visited_;
  std::vector<FoundFile> found_;
};

}  // namespace

std::vector<FoundFile> FindDocuments(const std::string& root, Diagnostics* diagnostics,
                                     int max_files, int max_bundle) {
  std::string trimmed = root;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  std::vector<FoundFile> found = Walk(std::move(trimmed), diagnostics, max_files).Run();
  LeaveOutCandidates(found);
  BoundBundles(max_bundle, found, diagnostics);
  return found;
}

}  // namespace kb
