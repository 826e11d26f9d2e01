#include "tdd/safe_path.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kb/file.h"
#include "kb/sha256.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

bool IsPathCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._+-").find(c) != std::string_view::npos;
}

std::string PartFault(std::string_view part) {
  if (part.empty()) return "has an empty part (//, or / at its end)";
  if (part == "..") return "has '..' in it and could leave the folder";
  if (part[0] == '.') return part == "." ? "has '.' as a part" : "names a hidden file or folder";
  if (part[0] == '-') return "has a part that begins with '-' and reads as an option";
  return std::all_of(part.begin(), part.end(), IsPathCharacter)
             ? ""
             : "has characters beside A-Z a-z 0-9 . _ + -";
}

std::string Lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

bool SameFile(const struct stat& a, const std::string& path) {
  struct stat b = {};
  return ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// `path` has no symlinks left in it.
std::string FileFault(const std::string& path, const std::vector<std::string>& protected_files) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0) return std::strerror(errno);
  if (!S_ISREG(info.st_mode)) return "is not a regular file";
  if (std::any_of(protected_files.begin(), protected_files.end(),
                  [&](const std::string& file) { return SameFile(info, file); })) {
    return "is a file of the case under another name";
  }
  if (info.st_nlink > 1) {
    return "has " + std::to_string(info.st_nlink) + " hard links: another name could change it";
  }
  return "";
}

}  // namespace

std::string PathFault(std::string_view relative) {
  if (relative.empty()) return "is empty";
  if (relative.size() > 200) return "is longer than 200 bytes";
  if (relative[0] == '/') return "is absolute";
  for (size_t at = 0; at <= relative.size();) {
    const size_t end = std::min(relative.find('/', at), relative.size());
    std::string fault = PartFault(relative.substr(at, end - at));
    if (!fault.empty()) return fault;
    at = end + 1;
  }
  return "";
}

bool IsProtectedName(std::string_view relative) {
  constexpr std::array<std::string_view, 6> kNames = {"case.yaml", "launch.yaml", "reference.cc",
                                                      "test.cc",   "case_test.h", "test.cu"};
  const std::string name = Lowered(BaseName(relative));
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return name.starts_with("test_") || name.starts_with("gtest") || name.starts_with("gmock") ||
         name.find("_test.") != std::string::npos || name.find(".test.") != std::string::npos;
}

std::optional<std::string> ReadInside(const std::string& folder, const std::string& relative,
                                      int64_t max_bytes, std::string* why,
                                      const std::vector<std::string>& protected_files) {
  const auto fail = [&](std::string reason) {
    *why = std::move(reason);
    return std::nullopt;
  };
  if (std::string fault = PathFault(relative); !fault.empty()) return fail(std::move(fault));
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) return fail("cannot be read: its folder: " + error.message());
  const fs::path path = fs::canonical(root / relative, error);
  if (error) return fail("cannot be read: " + error.message());
  const std::string inside = root == "/" ? "/" : root.string() + "/";
  if (!path.string().starts_with(inside)) return fail("is or passes a symlink out of the folder");
  std::string fault = FileFault(path.string(), protected_files);
  if (!fault.empty()) return fail(std::move(fault));
  std::string reason;
  std::optional<std::string> bytes = ReadFile(path.string(), &reason, max_bytes);
  return bytes ? bytes : fail("cannot be read: " + reason);
}

std::string FolderName(const std::string& folder) {
  std::error_code error;
  const fs::path path = fs::absolute(folder.empty() ? "." : folder, error).lexically_normal();
  return path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
}

std::string Sha256OfFiles(const std::vector<NamedBytes>& files) {
  std::string list;
  for (const NamedBytes& file : files) list += Sha256(file.bytes) + " " + file.name + "\n";
  return Sha256(list);
}

}  // namespace kb
