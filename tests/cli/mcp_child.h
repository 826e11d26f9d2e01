// kb mcp as a child process: lines in, lines out, each with a deadline.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/json.h"
#include "kb/value.h"

namespace kb::test {

class McpChild {
 public:
  explicit McpChild(const std::string& kb_dir = ".kb") {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC) + pipe2(out, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl(KB_BINARY, KB_BINARY, "mcp", "--kb-dir", kb_dir.c_str(), nullptr);
      _exit(126);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~McpChild() {
    CloseInput();
    CloseOutput();
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  McpChild(const McpChild&) = delete;
  McpChild& operator=(const McpChild&) = delete;

  // False if the child has gone.
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(in_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // The next line, without its end; nullopt at the end or past the deadline.
  std::optional<std::string> ReadLine(std::chrono::seconds deadline = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    while (buffer_.find('\n') == std::string::npos) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      pollfd output = {out_, POLLIN, 0};
      if (left.count() <= 0 || poll(&output, 1, static_cast<int>(left.count())) <= 0) {
        return std::nullopt;
      }
      char bytes[65536];
      const ssize_t n = read(out_, bytes, sizeof(bytes));
      if (n <= 0) return std::nullopt;
      buffer_.append(bytes, static_cast<size_t>(n));
    }
    const size_t end_of_line = buffer_.find('\n');
    std::string line = buffer_.substr(0, end_of_line);
    buffer_.erase(0, end_of_line + 1);
    return line;
  }

  // What is answered to `line`, up to the answer to a ping that is sent after it.
  std::vector<Value> Answers(std::string_view line) {
    const std::string mark = "mark-" + std::to_string(++marks_);
    std::vector<Value> answers;
    EXPECT_TRUE(Write(line)) << "the server has gone";
    Write("\n{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"" + mark + "\"}\n");
    while (const auto out = ReadLine()) {
      auto json = ParseJson(*out);
      EXPECT_TRUE(json.has_value()) << *out;
      if (!json) return answers;
      if ((*json)["id"].AsString() == mark) return answers;
      answers.push_back(*std::move(json));
    }
    ADD_FAILURE() << "no answer to the ping after " << line.substr(0, 200);
    return answers;
  }

  void CloseInput() {
    if (in_ >= 0) close(in_);
    in_ = -1;
  }
  void CloseOutput() {
    if (out_ >= 0) close(out_);
    out_ = -1;
  }

  // Its exit code once it ends, 128 + signal if a signal ended it; -1 past the deadline.
  int Wait(std::chrono::seconds deadline = std::chrono::seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + deadline;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) return -1;
      usleep(5000);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // "VmHWM" or "VmRSS", in MiB.
  [[nodiscard]] double Memory(const std::string& what) const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(what + ":")) return std::stod(line.substr(what.size() + 1)) / 1024;
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  std::string buffer_;
  int marks_ = 0;
};

}  // namespace kb::test
