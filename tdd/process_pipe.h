// Descriptors for a child process: each at least 10, so that the child's dup2 to 0, 1, 2 and 3
// cannot close one, and closed on exec.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace kb {

inline constexpr int kLowestFd = 10;

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd)  // a duplicate; -1 of -1
      : fd_(fcntl(fd, F_DUPFD_CLOEXEC, kLowestFd)) {}
  ~Fd() { Close(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};

// Takes `fd` over. Throws Error if there are no descriptors left.
[[nodiscard]] Fd Owned(int fd);
[[nodiscard]] Pipe MakePipe();

}  // namespace kb
