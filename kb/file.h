// Files as kb reads and writes them: bounded reads, whole writes, safe walks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/diagnostic.h"

namespace kb {

inline constexpr int64_t kMaxFileBytes = 16 << 20;  // one document (formats.md)

// What decides whether a file must be read again, as git's index does it.
struct FileStamp {
  int64_t size_bytes = 0;
  int64_t mtime_ns = 0;
  int64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// nullopt if it cannot be read, is no regular file (FIFO, device, folder), or
// is larger than `max_bytes`; `*why` then says so in a few words. Never blocks
// on a FIFO.
[[nodiscard]] std::optional<std::string> ReadFile(const std::string& path,
                                                  std::string* why = nullptr,
                                                  int64_t max_bytes = kMaxFileBytes);

// Writes to a temporary name beside `path`, fsyncs, renames, fsyncs the folder:
// readers see the old bytes or the new ones. Throws Error; the old file is then
// intact and no temporary file is left.
void WriteFileAtomically(const std::string& path, std::string_view bytes);

struct FoundFile {
  std::string path;  // root + "/" + relative, '/' separated
  FileStamp stamp;
};

// All Markdown files (*.md, *.markdown, any case) below `root`, or `root` itself if it
// is a file, sorted by path bytes. Skips hidden folders, node_modules, candidate/ beside NNK.md,
// and symlinks that leave `root` or were visited before (loops end). What was passed over and why
// (unreadable folder, FIFO, too large, too many: `max_files` in all, `max_bundle` below one
// folder with a SKILL.md or NNK.md) is added to `*diagnostics`, one a line. Throws Error if
// `root` does not exist.
[[nodiscard]] std::vector<FoundFile> FindDocuments(const std::string& root,
                                                   Diagnostics* diagnostics,
                                                   int max_files = 1000000, int max_bundle = 10000);

// The folder part of a path without a trailing slash ("" if none), and the rest.
[[nodiscard]] std::string_view DirName(std::string_view path);
[[nodiscard]] std::string_view BaseName(std::string_view path);

// `text` with control characters and bytes that are not UTF-8 shown as \xNN:
// safe to print on one line of a terminal.
[[nodiscard]] std::string Printable(std::string_view text);

}  // namespace kb
