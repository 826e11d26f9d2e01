// A TCP client that sends what no HTTP library would.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kb::test {

class RawClient {
 public:
  explicit RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawClient() { close(fd_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // False if the other side has closed.
  bool Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // What comes until `end` is seen ("": the other side closes) or nothing has come for
  // `patience_ms`.
  std::string Read(std::string_view end = "", int patience_ms = 5000) const {
    std::string all;
    pollfd p = {fd_, POLLIN, 0};
    while (poll(&p, 1, patience_ms) > 0) {
      char buffer[65536];
      const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
      if (n <= 0) return all;
      all.append(buffer, static_cast<size_t>(n));
      if (!end.empty() && all.find(end) != std::string::npos) return all;
    }
    return all + (end.empty() ? "[still open]" : "[no end]");
  }

 private:
  int fd_;
};

}  // namespace kb::test
