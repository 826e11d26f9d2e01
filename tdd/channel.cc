#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "kb/error.h"
#include "tdd/process.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSendTimeoutS = 60;
constexpr double kLongestWaitS = 1e6;

Clock::time_point After(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongestWaitS)));
}

// False: the deadline passed first.
bool WaitFor(int fd, short events, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd one = {fd, events, 0};
    const int ready = poll(&one, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 60000)));
    if (ready > 0) return true;
    if (Clock::now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool SendAll(int fd, std::string_view bytes) {
  const Clock::time_point deadline = After(kSendTimeoutS);
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!WaitFor(fd, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

Channel::~Channel() {
  if (fd_ >= 0) close(fd_);
}

Channel::Channel(Channel&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}

void Channel::HangUp() { static_cast<void>(shutdown(fd_, SHUT_RDWR)); }

bool Channel::Send(std::string_view line) {
  if (line.size() > kMaxLine || line.find('\n') != std::string_view::npos) return false;
  std::string message(line);
  message += '\n';
  return SendAll(fd_, message);
}

bool Channel::Receive(std::string* line, double timeout_s) {
  const Clock::time_point deadline = After(timeout_s);
  for (size_t seen = 0;;) {
    const size_t end = buffer_.find('\n', seen);
    if (end != std::string::npos) {
      line->assign(buffer_, 0, end);
      buffer_.erase(0, end + 1);
      return line->size() <= kMaxLine;
    }
    seen = buffer_.size();
    if (seen > kMaxLine || !WaitFor(fd_, POLLIN, deadline)) return false;
    char bytes[65536];
    const ssize_t got = recv(fd_, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got > 0) {
      buffer_.append(bytes, static_cast<size_t>(got));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      return false;
    }
  }
}

ChannelPair MakeChannel() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw Error(std::string("no socket pair for a child process: ") + std::strerror(errno));
  }
  return {Channel(ends[0]), ends[1]};
}

}  // namespace kb
