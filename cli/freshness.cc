#include "cli/freshness.h"

#include <algorithm>
#include <map>

#include "cli/place.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/sha256.h"

namespace kb {
namespace {

// By catalogued path.
std::map<std::string, FileStamp> FilesBelow(const std::string& kb_dir,
                                            const std::vector<std::string>& roots) {
  std::map<std::string, FileStamp> files;
  const std::string base = BaseOf(kb_dir) + "/";
  for (const std::string& root : roots) {
    Diagnostics ignored;
    try {
      for (const FoundFile& file : FindDocuments(PathOnDisk(kb_dir, root), &ignored)) {
        const bool below = file.path.starts_with(base);
        files.emplace(below ? file.path.substr(base.size()) : file.path, file.stamp);
      }
    } catch (const Error&) {
      continue;  // the root is gone: its documents are removed
    }
  }
  return files;
}

bool IsChanged(const std::string& kb_dir, const CatalogDocument& document, const FileStamp& stamp) {
  if (stamp == document.stamp) return false;
  const auto text = ReadFile(PathOnDisk(kb_dir, document.path));
  return !text || Sha256(*text) != document.sha256;
}

}  // namespace

bool LeavesOut(const Diagnostic& finding) {
  const bool is_scan = finding.rule.starts_with("scan-") || finding.rule.starts_with("file-");
  return finding.severity == Severity::kBlock ||
         (is_scan && finding.severity >= Severity::kWarning);
}

Freshness CompareWithDisk(const std::string& kb_dir, const std::vector<CatalogDocument>& documents,
                          const std::vector<std::string>& roots, const Diagnostics& findings) {
  std::map<std::string, FileStamp> files = FilesBelow(kb_dir, roots);
  Freshness freshness;
  for (const CatalogDocument& document : documents) {
    const auto file = files.find(document.path);
    if (file == files.end()) {
      freshness.removed.push_back(document.path);
      continue;
    }
    if (IsChanged(kb_dir, document, file->second)) freshness.changed.push_back(document.path);
    files.erase(file);
  }
  for (const Diagnostic& finding : findings) files.erase(finding.path);
  for (const auto& [path, stamp] : files) freshness.added.push_back(path);
  std::sort(freshness.removed.begin(), freshness.removed.end());
  std::sort(freshness.changed.begin(), freshness.changed.end());
  return freshness;
}

}  // namespace kb
