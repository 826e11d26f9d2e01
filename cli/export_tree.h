// A folder that is written whole or not at all: it grows beside its target under a hidden name
// and takes the target's place at once. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace kb {

// In the target, what kb wrote there: "SHA-256  path" lines, as sha256sum -c reads them. Only
// an empty folder, or one with this file, is ever replaced.
inline constexpr const char kExportMarker[] = ".kb-export";

class ExportTree {
 public:
  // Throws Error, having changed nothing, if `target` holds something that kb did not write or
  // that was edited since (unless `force`), is or holds the working folder, or if another
  // process is exporting to it.
  ExportTree(const std::string& target, bool force);
  ~ExportTree();  // without Commit: the target is as it was
  ExportTree(const ExportTree&) = delete;
  ExportTree& operator=(const ExportTree&) = delete;

  // `path`: relative, '/' separated. Throws Error if it leads out, is there already, or cannot
  // be written.
  void Add(const std::string& path, std::string_view bytes, bool executable = false);
  [[nodiscard]] const std::map<std::string, std::string>& sha256_by_path() const { return files_; }

  // Writes the marker, syncs, and swaps: readers of the target see all of the old or all of
  // the new. Throws Error; the target is then as it was.
  void Commit();

 private:
  void OpenStaging();
  void CheckAgain() const;

  std::string target_;   // absolute
  std::string staging_;  // its hidden sibling
  int lock_ = -1;        // the staging folder, locked
  int old_ = -1;         // the target's folder before the swap, locked
  bool force_;
  bool owns_staging_ = false;
  std::map<std::string, std::string> files_;
};

}  // namespace kb
