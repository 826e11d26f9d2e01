#include "tdd/scratch.h"

#include <stdlib.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kb/error.h"

namespace kb {
namespace {

constexpr uint64_t kRoomBytes = 8ull << 30;

std::string DefaultFolder() {
  struct statvfs shm = {};
  if (statvfs("/dev/shm", &shm) == 0 && shm.f_bavail * shm.f_frsize >= kRoomBytes)
    return "/dev/shm";
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(ignored);
  return ignored ? "/tmp" : folder.string();
}

}  // namespace

Scratch::Scratch(const std::string& below)
    : path_((below.empty() ? DefaultFolder() : below) + "/kb-run-XXXXXX") {
  if (mkdtemp(path_.data()) == nullptr) {
    throw Error("cannot make a folder below " +
                std::filesystem::path(path_).parent_path().string() + ": " + std::strerror(errno) +
                "; set TMPDIR to a folder that can be written");
  }
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kb
