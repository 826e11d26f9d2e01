#include "cli/place.h"

#include <filesystem>

namespace kb {

namespace fs = std::filesystem;

std::string BaseOf(const std::string& kb_dir) {
  std::error_code error;
  fs::path dir = fs::absolute(kb_dir, error).lexically_normal();
  if (!dir.has_filename()) dir = dir.parent_path();  // "x/.kb/"
  return dir.parent_path().string();
}

std::string CataloguedPath(const std::string& kb_dir, const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  const std::string below = whole.lexically_relative(BaseOf(kb_dir)).generic_string();
  return below.empty() || below.starts_with("..") ? whole.string() : below;
}

std::string PathOnDisk(const std::string& kb_dir, const std::string& catalogued) {
  return (fs::path(BaseOf(kb_dir)) / catalogued).string();
}

std::vector<std::string> DefaultRoots() {
  std::vector<std::string> roots;
  std::error_code error;
  for (const char* name : {"skills", "traces", "nnk"}) {
    if (fs::is_directory(name, error)) roots.emplace_back(name);
  }
  return roots;
}

}  // namespace kb
