#include <cstdlib>
#include <filesystem>
#include <string>

#include "cli/command.h"

namespace kb {

std::string FindKbDir(const Args& args) {
  if (args.Has("--kb-dir")) return args.Get("--kb-dir");
  if (const char* dir = std::getenv("KB_DIR"); dir != nullptr && *dir != '\0') return dir;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  std::string up;  // "../" as often as needed, so that messages stay short
  for (std::filesystem::path folder = here; !error; folder = folder.parent_path(), up += "../") {
    if (std::filesystem::is_directory(folder / ".kb", error)) return up + ".kb";
    error.clear();
    if (folder == folder.root_path()) break;
  }
  return ".kb";
}

}  // namespace kb
