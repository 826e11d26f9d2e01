#include "indexer/scan.h"

#include <algorithm>
#include <map>
#include <set>

#include "indexer/prepare.h"
#include "kb/error.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Remembered(const fs::path& base, std::string_view text) {
  std::vector<std::string> roots;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    roots.push_back((base / text.substr(at, end - at)).string());
    at = end + 1;
  }
  return roots;
}

// Relative to `base` where below it, else absolute.
std::string CataloguedRoot(const fs::path& base, const std::string& root) {
  const fs::path whole = fs::absolute(root).lexically_normal();
  std::string text = whole.lexically_relative(base).string();
  if (text.empty() || text.starts_with("..")) text = whole.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string CataloguedPath(const fs::path& base, const std::string& path) {
  const std::string prefix = base.string() + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

}  // namespace

fs::path BaseFolder(const std::string& kb_dir) {
  return fs::absolute(kb_dir).lexically_normal().parent_path();
}

Scan ScanRoots(const std::string& kb_dir, const std::vector<std::string>& roots,
               std::string_view remembered) {
  const fs::path base = BaseFolder(kb_dir);
  Scan scan;
  for (const std::string& root : roots.empty() ? Remembered(base, remembered) : roots) {
    const std::string text = CataloguedRoot(base, root);
    if (std::ranges::find(scan.roots, text) == scan.roots.end()) scan.roots.push_back(text);
  }
  if (scan.roots.empty()) {
    throw Error("no roots given and none known; name a folder: kb index skills");
  }
  std::map<std::string, ScannedFile> files;
  std::set<std::string> bundles;
  for (const std::string& root : scan.roots) {
    for (const FoundFile& found : FindDocuments((base / root).string(), &scan.diagnostics)) {
      const std::string path = CataloguedPath(base, found.path);
      if (IsBundleIndex(path)) bundles.insert(std::string(DirName(path)));
      files.try_emplace(path, ScannedFile{path, root, "", found.stamp});
    }
  }
  for (Diagnostic& d : scan.diagnostics) d.path = CataloguedPath(base, d.path);
  for (auto& [path, file] : files) {
    file.bundle =
        BundleOf(path, file.root, [&](const std::string& f) { return bundles.contains(f); });
    scan.files.push_back(std::move(file));
  }
  return scan;
}

std::string RootsText(const std::vector<std::string>& roots) {
  std::string text;
  for (const std::string& root : roots) text += (text.empty() ? "" : "\n") + root;
  return text;
}

}  // namespace kb
