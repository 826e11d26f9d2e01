#include "cli/export_tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/markdown.h"
#include "kb/sha256.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxMarkerBytes = 64 << 20;

[[noreturn]] void Fail(const std::string& what, const std::string& path, const std::string& mend) {
  throw Error(what + " " + Printable(path) + ": " + std::strerror(errno) + "; " + mend);
}

// The target with its links resolved, so that what is replaced is what was checked.
fs::path Resolved(const std::string& target) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(fs::absolute(target), error).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (error || !path.has_filename() || path == path.root_path()) {
    throw Error("cannot export to " + Printable(target) + "; name a folder of its own");
  }
  return path;
}

bool IsAtOrBelow(const fs::path& path, const fs::path& folder) {
  const std::string below = path.lexically_relative(folder).string();
  return !below.empty() && !below.starts_with("..");
}

// The marker's lines; nullopt if there is none.
std::optional<std::map<std::string, std::string>> ReadMarker(const fs::path& folder) {
  const fs::path marker = folder / kExportMarker;
  std::error_code error;
  if (fs::symlink_status(marker, error).type() != fs::file_type::regular) return std::nullopt;
  const auto text = ReadFile(marker.string(), nullptr, kMaxMarkerBytes);
  if (!text) return std::nullopt;
  std::map<std::string, std::string> files;
  for (const std::string_view line : SplitLines(*text)) {
    if (line.size() > 66) files.emplace(line.substr(66), line.substr(0, 64));
  }
  return files;
}

// The first thing in `folder` that kb did not write, or "": a path and what is the matter.
std::string FirstForeign(const fs::path& folder, const std::map<std::string, std::string>& ours) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).generic_string();
    const fs::file_type type = entry.symlink_status().type();
    if (type == fs::file_type::directory || path == kExportMarker) continue;
    const auto known = ours.find(path);
    if (known == ours.end() || type != fs::file_type::regular) {
      return path + ", which kb did not write";
    }
    const auto bytes = ReadFile(entry.path().string());
    if (!bytes || Sha256(*bytes) != known->second) return path + ", which was edited since";
  }
  return "";
}

// Throws unless the folder is new, empty, or as kb left it.
void CheckReplaceable(const fs::path& target, bool force) {
  const fs::file_type type = fs::symlink_status(target).type();
  if (type == fs::file_type::not_found) return;
  const std::string name = Printable(target.string());
  if (type != fs::file_type::directory) throw Error(name + " is no folder; name another one");
  if (fs::is_empty(target)) return;
  const auto ours = ReadMarker(target);
  if (!ours) {
    throw Error(name + " holds files and no " + kExportMarker +
                ", so kb did not write it; name an empty or a new folder");
  }
  const std::string foreign = force ? "" : FirstForeign(target, *ours);
  if (foreign.empty()) return;
  throw Error(name + " holds " + Printable(foreign) +
              "; move it away, name another folder, or throw such changes away with --force");
}

bool IsSafeRelative(std::string_view path) {
  if (path.empty() || path.back() == '/') return false;
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    if (part.empty() || part == "." || part == ".." || part.size() > 255) return false;
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  }
  return path.find_first_of(std::string_view("\0\n\r\\", 4)) == std::string_view::npos;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void WriteNew(const std::string& path, std::string_view bytes, mode_t mode) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  bool ok = fd >= 0 && WriteAll(fd, bytes);
  const int why = errno;
  if (fd >= 0) ok = ::close(fd) == 0 && ok;
  if (ok) return;
  if (why != 0) errno = why;
  Fail("cannot write", path, "check space and permissions; the old export is intact");
}

// Puts `staging` in the place of `target`, where a folder may stand; what stood there is then
// at `staging`. False with errno set.
bool Swap(const std::string& staging, const std::string& target) {
  if (::rename(staging.c_str(), target.c_str()) == 0) return true;  // new or empty: no exchange
  if (errno != ENOTEMPTY && errno != EEXIST) return false;
  return ::renameat2(AT_FDCWD, staging.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0;
}

// Empties a folder, the marker last: a kill on the way leaves one that is known as kb's.
void Clear(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() != kExportMarker) fs::remove_all(entry.path(), error);
  }
  fs::remove(folder + "/" + kExportMarker, error);
}

}  // namespace

ExportTree::ExportTree(const std::string& target, bool force) : force_(force) {
  const fs::path path = Resolved(target);
  std::error_code error;
  if (IsAtOrBelow(fs::current_path(error), path)) {
    throw Error("cannot replace the folder that kb works in; name another one with --to");
  }
  target_ = path.string();
  staging_ = (path.parent_path() / ("." + path.filename().string() + ".kb-export-new")).string();
  try {
    CheckReplaceable(path, force);
    fs::create_directories(path.parent_path());
  } catch (const fs::filesystem_error& failed) {
    throw Error("cannot look into " + Printable(target_) + ": " + failed.code().message() +
                "; check the permissions, or name another folder");
  }
  OpenStaging();
}

// A run that was killed leaves its staging folder; the next one takes it over.
void ExportTree::OpenStaging() {
  const std::string name = Printable(staging_);
  if (::mkdir(staging_.c_str(), 0777) != 0 && errno != EEXIST) {
    Fail("cannot make", staging_, "check the permissions, or name another folder");
  }
  lock_ = ::open(staging_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock_ < 0) Fail("cannot open", staging_, "remove it");
  struct stat held = {}, named = {};
  const bool locked = ::flock(lock_, LOCK_EX | LOCK_NB) == 0;
  // The other one may have swapped it away between opening and locking.
  const bool same = ::fstat(lock_, &held) == 0 && ::lstat(staging_.c_str(), &named) == 0 &&
                    held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  if (!locked || !same) {
    ::close(lock_);
    throw Error("another kb export writes " + Printable(target_) + " now; try again later");
  }
  std::error_code error;
  if (!fs::is_empty(staging_, error) && !fs::exists(staging_ + "/" + kExportMarker, error)) {
    ::close(lock_);
    throw Error(name + " is in the way and is not of kb; remove it or name another folder");
  }
  Clear(staging_);
  owns_staging_ = true;
  WriteNew(staging_ + "/" + kExportMarker, "", 0666);  // from now on known as kb's
}

ExportTree::~ExportTree() {
  std::error_code error;
  if (owns_staging_) Clear(staging_);
  if (owns_staging_) fs::remove(staging_, error);
  if (old_ >= 0) ::close(old_);
  if (lock_ >= 0) ::close(lock_);
}

// The target may have been changed while the export grew.
void ExportTree::CheckAgain() const {
  try {
    CheckReplaceable(target_, force_);
  } catch (const fs::filesystem_error& failed) {
    throw Error("cannot look into " + Printable(target_) + ": " + failed.code().message() +
                "; it is as it was");
  }
}

void ExportTree::Add(const std::string& path, std::string_view bytes, bool executable) {
  if (!IsSafeRelative(path) || path == kExportMarker) {
    throw Error("cannot export a file named " + Printable(path) + "; rename it");
  }
  if (!files_.emplace(path, Sha256(bytes)).second) {
    throw Error("two files would be exported as " + Printable(path) + "; rename one");
  }
  const std::string whole = staging_ + "/" + path;
  std::error_code error;
  fs::create_directories(fs::path(whole).parent_path(), error);
  if (error) {
    throw Error("cannot make the folder of " + Printable(path) + ": " + error.message() +
                "; check space and permissions; the old export is intact");
  }
  WriteNew(whole, bytes, executable ? 0777 : 0666);
}

void ExportTree::Commit() {
  CheckAgain();
  std::string lines;
  for (const auto& [path, sha256] : files_) {
    lines.append(sha256).append("  ").append(path).append("\n");
  }
  // Written beside and renamed, because the staging folder must never be without one.
  WriteFileAtomically(staging_ + "/" + kExportMarker, lines);
  if (::syncfs(lock_) != 0)
    Fail("cannot sync", staging_, "check the disk; the old export is intact");
  // What may come to stand at staging_ is locked too, until the destructor has removed it.
  old_ = ::open(target_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (old_ >= 0 && ::flock(old_, LOCK_EX | LOCK_NB) != 0) {
    throw Error("another program has locked " + Printable(target_) + "; try again later");
  }
  if (!Swap(staging_, target_)) {
    Fail("cannot replace", target_, "the old export is intact; name a folder on another disk");
  }
  struct stat info = {}, old = {};
  owns_staging_ = old_ >= 0 && ::fstat(old_, &old) == 0 && ::lstat(staging_.c_str(), &info) == 0 &&
                  info.st_ino == old.st_ino;
}

}  // namespace kb
