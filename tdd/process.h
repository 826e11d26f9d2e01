// Child processes that cannot harm: deadline, memory, file size, bounded output, no network where
// the system lets us (tdd/sandbox.h), all descendants killed with it. No shell ever.
// Objects are not shared between threads; several may be used at once.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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
  int max_processes = 256;               // with threads not counted; more end it, where processes
                                         // can be counted; 0: no limit and no counting
  bool sandbox = true;                   // false: limits and the kill alone, no namespaces
  bool network = false;                  // false: a network namespace of its own, where allowed
  std::vector<std::string> writable;     // folders it may write beside its working folder; the
                                         // rest is read-only to it, where mounts can be had
  int channel = -1;                      // this descriptor becomes its descriptor 3; -1: none
};

struct ProcessResult {
  bool started = false;
  bool timed_out = false;
  bool too_much_output = false;
  bool too_many_processes = false;
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string out, talk;
  double wall_s = 0, cpu_s = 0;  // cpu_s: user and system, of it and all it waited for
  std::string why;               // if not started
};

[[nodiscard]] ProcessResult RunProcess(const ProcessOptions& options);

// The same for a child that is talked to while it runs: its output is read and its deadline is
// watched by a thread. Killed and reaped when this goes.
class Process {
 public:
  explicit Process(const ProcessOptions& options);  // throws Error if it cannot be started
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  [[nodiscard]] bool running() const;
  void Kill();
  [[nodiscard]] ProcessResult Wait();  // to its end or its deadline
  // Whether it has ended, once it has or `seconds` have passed.
  [[nodiscard]] bool EndsWithin(double seconds) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Messages over a stream socket: one line of text each, without its newline, at most kMaxLine.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}  // takes ownership
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  // False: the other side is gone, or did not read for a minute. A newline in `line` would split
  // it: false, and nothing is sent.
  [[nodiscard]] bool Send(std::string_view line);
  // False: closed, deadline passed, or a line over the bound. After a passed deadline alone it may
  // be called again.
  [[nodiscard]] bool Receive(std::string* line, double timeout_s);
  void HangUp();  // the other side reads the end, whoever else still holds this one
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
