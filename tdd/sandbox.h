// The child's side of tdd/process.h: what happens between fork and exec. A small init process
// stands between us and the program: it enters namespaces of its own, starts the program, and
// kills every descendant when the program ends or when we close the control pipe (or die).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kb {

// What the system lets a child be shut into. Found by trying, once a process.
struct Sandbox {
  int namespaces = 0;     // CLONE_NEW... flags
  bool mounts = false;    // all but chosen folders read-only, a /proc of its own
  const char* name = "";  // "pid, net, ipc and mount namespaces"; "none"
};
[[nodiscard]] const Sandbox& BestSandbox();

// All of it is made ready before the fork: after it nothing may allocate or lock. Descriptors are
// at least 10.
struct ChildPlan {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;
  std::vector<const char*> writable;  // with `folder`; absolute, they exist
  Sandbox sandbox;
  bool network = false;
  int null = -1, out = -1, talk = -1;
  int channel = -1;          // or -1
  int control = -1;          // read end: when it closes, all is killed
  int failed = -1;           // a StartFailure is written if the program does not start
  int done = -1;             // write end of the ChildEnd; it closes when all is over
  int64_t memory_bytes = 0;  // 0: no limit
  int64_t file_bytes = 0;
  int nice = 0;           // our own
  int max_processes = 0;  // 0: not counted
};

struct StartFailure {
  char what[24] = {};  // "mount", "exec", ...
  int error = 0;       // errno
};

struct ChildEnd {
  int wait_status = 0;  // of the program, as waitpid gives it
  bool killed = false;  // by us: the control pipe closed
  bool too_many_processes = false;
};

// Starts the init process; its id, or -1 with errno.
[[nodiscard]] pid_t StartChild(const ChildPlan& plan);

}  // namespace kb
