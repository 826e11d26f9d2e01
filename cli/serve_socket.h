// Listening sockets, and file descriptors that close themselves.
#pragma once

#include <string>
#include <utility>

namespace kb {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}  // takes it over; -1: none
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// A listening TCP socket that does not block; the first address of `host` that works. Port 0:
// any free one. Throws Error.
[[nodiscard]] Descriptor Listen(const std::string& host, int port);

// The port that a listening socket has.
[[nodiscard]] int PortOf(int socket);

}  // namespace kb
