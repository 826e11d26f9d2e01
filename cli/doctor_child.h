// Child processes of `kb doctor`: start, then collect the output before a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace kb {

using DoctorClock = std::chrono::steady_clock;

struct ChildOutput {
  bool started = false;
  bool timed_out = false;
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string text;    // stdout and stderr, at most 64 KiB; a child that writes more is ended
};

// A child in a process group of its own, with empty stdin. It and its descendants in that group
// are killed when this goes.
class DoctorChild {
 public:
  // argv[0] is an absolute path; no shell.
  explicit DoctorChild(const std::vector<std::string>& argv);
  // Runs `probe` and writes what it returns; what it throws ends the child with exit code 1.
  explicit DoctorChild(const std::function<std::string()>& probe);
  ~DoctorChild();
  DoctorChild(const DoctorChild&) = delete;
  DoctorChild& operator=(const DoctorChild&) = delete;

  // Reads to its end, or to the deadline. Once only.
  [[nodiscard]] ChildOutput Collect(DoctorClock::time_point deadline);

 private:
  void Start(const std::function<int()>& run);
  [[nodiscard]] bool HasEnded() const;
  bool Read(int wait_ms, std::string* text) const;
  // Ends the group and reaps the child; its exit code.
  int Finish();

  pid_t pid_ = -1;
  int fd_ = -1;
};

}  // namespace kb
