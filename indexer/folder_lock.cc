#include "indexer/folder_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kb/error.h"
#include "kb/file.h"

namespace kb {

FolderLock::FolderLock(const std::string& kb_dir) {
  std::error_code failed;
  std::filesystem::create_directories(kb_dir, failed);
  if (failed) {
    throw Error(fmt::format("cannot make {}: {}; choose another folder with --kb-dir",
                            Printable(kb_dir), failed.message()));
  }
  const std::string path = kb_dir + "/lock";
  fd_ = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  int result = fd_ < 0 ? -1 : 0;
  while (result == 0 && flock(fd_, LOCK_EX) != 0) result = errno == EINTR ? 0 : -1;
  if (result == 0) return;
  const int why = errno;
  if (fd_ >= 0) close(fd_);
  throw Error(fmt::format("cannot lock {}: {}; is the folder writable?", Printable(path),
                          std::strerror(why)));
}

FolderLock::~FolderLock() { close(fd_); }

}  // namespace kb
