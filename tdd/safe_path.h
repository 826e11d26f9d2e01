// Files that a case or a candidate names: only plain files below its own folder are read, and a
// candidate's never stand in for a file of the case. Decided before anything is run; the bytes
// read here are the bytes that are hashed and compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

inline constexpr int64_t kMaxSpecBytes = 64 << 10;   // case.yaml, launch.yaml
inline constexpr int64_t kMaxSourceBytes = 1 << 20;  // a source file

// Why a relative path is not safe, in a few words, or "". Judged by its text alone: absolute,
// "..", "." or empty parts, hidden parts, other characters than A-Z a-z 0-9 . _ + - and /,
// parts that begin with '-', over 200 bytes.
[[nodiscard]] std::string PathFault(std::string_view relative);

// Whether a file of this name could be taken for one of the case's: case.yaml, launch.yaml,
// reference.cc, test.cc, case_test.h, gtest*, *_test.*, test_*, in whatever case of letters.
[[nodiscard]] bool IsProtectedName(std::string_view relative);

// The bytes of `folder`/`relative`. nullopt and why: a path that is not safe, a symlink that
// leaves the folder, more than one hard link, no plain file, one of `protected_files` (paths; by
// device and inode), or more than `max_bytes`.
[[nodiscard]] std::optional<std::string> ReadInside(
    const std::string& folder, const std::string& relative, int64_t max_bytes, std::string* why,
    const std::vector<std::string>& protected_files = {});

// The name of a folder itself, however it is written ("", ".", "a/", "a/../b"); "" if none.
[[nodiscard]] std::string FolderName(const std::string& folder);

// sha256 over names and bytes of files, in order: a file that is renamed, added or cut elsewhere
// changes it.
struct NamedBytes {
  std::string name;
  std::string bytes;
};
[[nodiscard]] std::string Sha256OfFiles(const std::vector<NamedBytes>& files);

}  // namespace kb
