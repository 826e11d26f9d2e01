#include "cli/doctor_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <thread>
#include <utility>

namespace kb {
namespace {

constexpr size_t kMaxOutput = 64 << 10;
constexpr int kNotStarted = 127;
constexpr int kStepMs = 5;  // between looks at whether the child has ended
constexpr std::chrono::milliseconds kLongestDeath{1000};

void WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// Milliseconds until `deadline`, rounded up; 0 if it has passed.
int MillisLeft(DoctorClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - DoctorClock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3600000));
}

}  // namespace

DoctorChild::DoctorChild(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  Start([&words] {
    execv(words[0], words.data());
    return kNotStarted;
  });
}

DoctorChild::DoctorChild(const std::function<std::string()>& probe) {
  Start([&probe] {
    try {
      WriteAll(STDOUT_FILENO, probe());
      return 0;
    } catch (const std::exception& error) {
      WriteAll(STDOUT_FILENO, error.what());
      return 1;
    }
  });
}

DoctorChild::~DoctorChild() {
  if (fd_ >= 0) close(fd_);
  if (pid_ > 0) static_cast<void>(Finish());
}

void DoctorChild::Start(const std::function<int()>& run) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pid_ = fork();
  if (pid_ == 0) {
    setpgid(0, 0);
    const int null = open("/dev/null", O_RDONLY);
    if (null >= 0) dup2(null, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    _exit(run());
  }
  if (pid_ > 0) setpgid(pid_, pid_);  // here too: whoever comes first
  close(ends[1]);
  if (pid_ < 0) {
    close(ends[0]);
    return;
  }
  fd_ = ends[0];
}

// Whether the child has ended. It is not reaped, so that its id stays its own.
bool DoctorChild::HasEnded() const {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid != 0;
}

// Appends what can be read within `wait_ms`. False at the end of the pipe.
bool DoctorChild::Read(int wait_ms, std::string* text) const {
  pollfd pipe = {fd_, POLLIN, 0};
  if (poll(&pipe, 1, wait_ms) <= 0) return true;
  char buffer[4096];
  const ssize_t got = read(fd_, buffer, sizeof(buffer));
  if (got > 0) text->append(buffer, static_cast<size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

int DoctorChild::Finish() {
  kill(-pid_, SIGKILL);
  const pid_t pid = std::exchange(pid_, -1);
  // One that a driver holds in the kernel does not even die: it is left to init.
  const auto deadline = DoctorClock::now() + kLongestDeath;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (DoctorClock::now() >= deadline) return 128 + SIGKILL;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A descendant may hold the pipe open for ever, so the child's own end counts, not the pipe's.
ChildOutput DoctorChild::Collect(DoctorClock::time_point deadline) {
  ChildOutput output;
  if (pid_ <= 0) return output;
  bool open = true;
  while (!HasEnded() && output.text.size() <= kMaxOutput) {
    output.timed_out = DoctorClock::now() >= deadline;
    if (output.timed_out) break;
    const int wait_ms = std::min(MillisLeft(deadline), kStepMs);
    if (open) {
      open = Read(wait_ms, &output.text);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // What it wrote just before its end.
  for (size_t before = std::string::npos; open && before != output.text.size();) {
    before = output.text.size();
    open = output.text.size() <= kMaxOutput && Read(0, &output.text);
  }
  output.exit_code = Finish();
  output.started = output.exit_code != kNotStarted;
  output.text.resize(std::min(output.text.size(), kMaxOutput));
  return output;
}

}  // namespace kb
