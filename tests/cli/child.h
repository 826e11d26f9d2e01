// Programs as child processes with a deadline, and mounts that only such children see.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace kb::test {

using Clock = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

struct ChildResult {
  int exit_code = -1;  // 128 + signal if a signal ended it
  bool timed_out = false;
  std::string out, talk;
  double wall_s = 0;
  [[nodiscard]] std::string Both() const { return out + talk; }
};

// A child that runs; its output is kept. Killed and waited for when destroyed.
class Child {
 public:
  // `before` runs in the child just before the program does.
  explicit Child(const std::vector<std::string>& argv, const std::function<void()>& before = {}) {
    int out[2], talk[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC) + pipe2(talk, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], STDOUT_FILENO);
      dup2(talk[1], STDERR_FILENO);
      if (before) before();
      std::vector<char*> words;
      for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execv(words[0], words.data());
      _exit(126);
    }
    close(out[1]);
    close(talk[1]);
    fds_[0] = {out[0], POLLIN, 0};
    fds_[1] = {talk[0], POLLIN, 0};
  }
  ~Child() {
    Kill();
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    for (const pollfd& p : fds_) {
      if (p.fd >= 0) close(p.fd);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Kill() const {
    if (pid_ > 0) kill(pid_, SIGKILL);
  }

  // Reads to the end of both pipes, then reaps. Past the deadline it is killed.
  ChildResult Wait(Millis deadline) {
    const Clock::time_point end = start_ + deadline;
    while (fds_[0].fd >= 0 || fds_[1].fd >= 0) {
      const auto left = std::chrono::duration_cast<Millis>(end - Clock::now()).count();
      if (left <= 0 && !result_.timed_out) {
        result_.timed_out = true;
        Kill();
      }
      if (poll(fds_, 2, result_.timed_out ? -1 : static_cast<int>(left)) > 0) Read();
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result_.wall_s = std::chrono::duration<double>(Clock::now() - start_).count();
    return result_;
  }

 private:
  void Read() {
    std::string* const to[] = {&result_.out, &result_.talk};
    char buffer[65536];
    for (int i = 0; i < 2; ++i) {
      if (fds_[i].fd < 0 || fds_[i].revents == 0) continue;
      const ssize_t n = read(fds_[i].fd, buffer, sizeof(buffer));
      if (n > 0) to[i]->append(buffer, static_cast<size_t>(n));
      if (n > 0 || (n < 0 && errno == EINTR)) continue;
      close(fds_[i].fd);
      fds_[i].fd = -1;
    }
  }

  Clock::time_point start_ = Clock::now();
  pid_t pid_ = -1;
  pollfd fds_[2] = {};
  ChildResult result_;
};

// Runs `kb` with these words to its end.
inline ChildResult RunKb(std::vector<std::string> words, Millis deadline = Millis(60000),
                         const std::function<void()>& before = {}) {
  words.insert(words.begin(), KB_BINARY);
  return Child(words, before).Wait(deadline);
}

// A mount namespace of its own, in which `prepare` (which returns 0 or an errno) has mounted
// something. Children enter it with Enter(); nobody else sees the mounts, and they go with the
// object. Where this is not permitted, error() says why.
class PrivateMounts {
 public:
  explicit PrivateMounts(const std::function<int()>& prepare) {
    int ready[2];
    EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
    holder_ = fork();
    if (holder_ == 0) {
      int error = unshare(CLONE_NEWNS) == 0 ? 0 : errno;
      if (error == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        error = errno;
      }
      if (error == 0) error = prepare();
      if (write(ready[1], &error, sizeof(error)) != sizeof(error)) _exit(1);
      while (true) pause();
    }
    if (read(ready[0], &error_, sizeof(error_)) != sizeof(error_)) error_ = EIO;
    close(ready[0]);
    close(ready[1]);
    space_ = open(("/proc/" + std::to_string(holder_) + "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC);
  }
  ~PrivateMounts() {
    kill(holder_, SIGKILL);
    waitpid(holder_, nullptr, 0);
    close(space_);
  }
  PrivateMounts(const PrivateMounts&) = delete;
  PrivateMounts& operator=(const PrivateMounts&) = delete;

  [[nodiscard]] std::string error() const { return error_ == 0 ? "" : std::strerror(error_); }

  // The same path as seen from outside.
  [[nodiscard]] std::string Outside(const std::string& path) const {
    return "/proc/" + std::to_string(holder_) + "/root" + path;
  }

  // In a child, before it runs its program. The working folder is looked up anew.
  void Enter(const std::string& folder) const {
    if (setns(space_, CLONE_NEWNS) != 0 || chdir(folder.c_str()) != 0) _exit(125);
  }

 private:
  pid_t holder_ = -1;
  int space_ = -1;
  int error_ = EIO;
};

}  // namespace kb::test
