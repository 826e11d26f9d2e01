#include "tdd/gpu_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace kb {
namespace {

constexpr std::chrono::milliseconds kStep{20};
constexpr mode_t kForAll = 0666;

// What may stand in a file name.
std::string Plain(const std::string& uuid) {
  std::string plain;
  for (const char c : uuid) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    plain += fine ? c : '-';
  }
  return plain.substr(0, 64);
}

// Opened without O_CREAT first: in a folder like /tmp the kernel may refuse O_CREAT for a file that
// another user made.
int OpenLockFile(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int fd = open(path.c_str(), kFlags);
  if (fd < 0) fd = open(path.c_str(), kFlags | O_CREAT, kForAll);
  if (fd >= 0) static_cast<void>(fchmod(fd, kForAll));  // whatever the umask; fails for others
  return fd;
}

}  // namespace

GpuLock::GpuLock(const std::string& gpu_uuid, GpuUse use, double timeout_s,
                 const std::string& folder)
    : fd_(gpu_uuid.empty() ? -1
                           : OpenLockFile((folder.empty() ? "/tmp" : folder) + "/kb-" +
                                          Plain(gpu_uuid) + ".lock")) {
  if (fd_ < 0) return;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  const int how = (use == GpuUse::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB;
  while (flock(fd_, how) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    held_ = std::chrono::steady_clock::now() < deadline;
    if (!held_) return;
    std::this_thread::sleep_for(kStep);
  }
}

GpuLock::~GpuLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace kb
