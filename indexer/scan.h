// What lies below the roots of an index: files, the bundles they form, what was passed over.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/file.h"

namespace kb {

struct ScannedFile {
  std::string path;    // as catalogued: relative to BaseFolder where below it, else absolute
  std::string root;    // likewise
  std::string bundle;  // the folder of its SKILL.md or NNK.md, or its own path
  FileStamp stamp;
};

struct Scan {
  std::vector<std::string> roots;  // as catalogued, once each
  std::vector<ScannedFile> files;  // by path, once each
  Diagnostics diagnostics;
};

// The folder that holds `.kb`: what relative paths of its catalog are relative to.
[[nodiscard]] std::filesystem::path BaseFolder(const std::string& kb_dir);

// `roots` as given on a command line; if there are none, `remembered` (as RootsText gave it).
// Throws Error if both are empty or a root does not exist.
[[nodiscard]] Scan ScanRoots(const std::string& kb_dir, const std::vector<std::string>& roots,
                             std::string_view remembered);

// Roots as one text for the catalog, a line each.
[[nodiscard]] std::string RootsText(const std::vector<std::string>& roots);

}  // namespace kb
