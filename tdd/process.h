// Child processes that cannot harm: deadline, memory, file size, bounded output, no network where
// the system lets us, a process group that is killed whole. No shell ever.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace kb {

struct ProcessOptions {
  std::vector<std::string> argv;         // argv[0]: absolute, or looked up in PATH
  std::vector<std::string> environment;  // "NAME=value"; nothing else is inherited
  std::string folder;                    // working folder; "": a fresh empty one, removed after
  double timeout_s = 60;                 // wall clock; then the whole group is killed
  int64_t memory_bytes = 0;              // address space; 0: no limit (CUDA needs none)
  int64_t file_bytes = 1 << 30;          // the largest file it may write
  int64_t output_bytes = 1 << 20;        // of stdout and stderr each; more ends it
  bool network = false;                  // false: a network namespace of its own, where allowed
  std::vector<std::string> writable;     // folders it may write (where mounts can be had); the
                                         // rest of the system is read-only to it
  int channel = -1;                      // this descriptor becomes its descriptor 3; -1: none
};

struct ProcessResult {
  bool started = false;
  bool timed_out = false;
  bool too_much_output = false;
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string out, talk;
  double wall_s = 0, cpu_s = 0;  // cpu_s: user and system, of it and all it waited for
  std::string why;               // if not started
};

[[nodiscard]] ProcessResult RunProcess(const ProcessOptions& options);

// The same for a child that is talked to while it runs. Killed and reaped when this goes.
class Process {
 public:
  explicit Process(const ProcessOptions& options);  // throws Error if it cannot be started
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  [[nodiscard]] bool running();
  void Kill();
  [[nodiscard]] ProcessResult Wait();  // to its end or its deadline; once

 private:
  struct State;
  State* state_;
};

// Messages over a stream socket: one line of text each, at most `max_bytes`.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}  // takes ownership
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  [[nodiscard]] bool Send(std::string_view line);  // false: the other side is gone
  // False: closed, deadline passed, or a line over the bound.
  [[nodiscard]] bool Receive(std::string* line, double timeout_s);
  [[nodiscard]] int fd() const { return fd_; }
  static constexpr size_t kMaxLine = 64u << 20;

 private:
  int fd_;
  std::string buffer_;
};

// Two ends: ours, close-on-exec, and the child's.
struct ChannelPair {
  Channel ours;
  int theirs;  // closed by the caller after the child has started
};
[[nodiscard]] ChannelPair MakeChannel();

}  // namespace kb
