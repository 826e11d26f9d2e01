#include "tdd/sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "tdd/sandbox_mounts.h"

namespace kb {
namespace {

// Everything from here to BestSandbox runs between fork and exec in a process that may have had
// other threads: system calls alone.

constexpr int kCountEveryMs = 20;  // a fork bomb makes some hundred meanwhile
constexpr int kInitNice = -10;     // where allowed: a bomb must not starve who ends it
constexpr int kKillEvery = 100;
constexpr int kReapTries = 2000;  // 1 ms each

// As fork(), but takes no lock that another thread may have held.
pid_t RawFork(int namespaces) {
  return static_cast<pid_t>(
      syscall(SYS_clone, static_cast<unsigned long>(namespaces | SIGCHLD), 0, 0, 0, 0));
}

[[noreturn]] void Fail(const ChildPlan& plan, const char* what) {
  StartFailure failure;
  failure.error = errno;
  std::strncpy(failure.what, what, sizeof(failure.what) - 1);
  static_cast<void>(!write(plan.failed, &failure, sizeof(failure)));
  _exit(127);
}

void CloseRange(unsigned first, unsigned last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  for (unsigned fd = first; fd <= std::min(last, 65535u); ++fd) close(static_cast<int>(fd));
}

// Closes every descriptor but those of the plan, 0, 1 and 2.
void CloseOthers(const ChildPlan& plan) {
  std::array<int, 7> keep = {plan.null,    plan.out,    plan.talk, plan.channel,
                             plan.control, plan.failed, plan.done};
  std::sort(keep.begin(), keep.end());
  unsigned next = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    CloseRange(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  CloseRange(next, ~0u);
}

void Limit(decltype(RLIMIT_AS) resource, int64_t value) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  static_cast<void>(setrlimit(resource, &limit));
}

// What root needs to read and write files stays; what could undo the sandbox goes.
void DropCapabilities() {
  for (int capability = 0; capability < 64; ++capability) {
    if (capability == CAP_CHOWN || capability == CAP_DAC_OVERRIDE || capability == CAP_FOWNER) {
      continue;
    }
    static_cast<void>(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0));
  }
}

[[noreturn]] void RunProgram(const ChildPlan& plan) {
  setpgid(0, 0);
  static_cast<void>(setpriority(PRIO_PROCESS, 0, plan.nice));
  if (chdir(plan.folder) != 0) Fail(plan, "working folder");
  dup2(plan.null, STDIN_FILENO);
  dup2(plan.out, STDOUT_FILENO);
  dup2(plan.talk, STDERR_FILENO);
  if (plan.channel >= 0) dup2(plan.channel, 3);
  Limit(RLIMIT_CORE, 0);
  if (plan.file_bytes > 0) Limit(RLIMIT_FSIZE, plan.file_bytes);
  if (plan.memory_bytes > 0) Limit(RLIMIT_AS, plan.memory_bytes);
  static_cast<void>(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  if (plan.sandbox.namespaces != 0) DropCapabilities();
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(plan.path, plan.argv, plan.environment);
  Fail(plan, "exec");
}

// Asked of the kernel and not of the plan: kill(-1) anywhere else would end the whole session.
bool OwnPidNamespace() { return getpid() == 1; }

// Of the pid namespace, by our own /proc. -1: not known.
int CountProcesses() {
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) return -1;
  alignas(dirent64) char buffer[8192];
  int count = 0;
  while (true) {
    const long got = syscall(SYS_getdents64, proc, buffer, sizeof(buffer));
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? 1 : 0;
      at += entry->d_reclen;
    }
  }
  close(proc);
  return count;
}

// Without a pid namespace: our children, to whose number orphans below us are added
// (PR_SET_CHILD_SUBREAPER), so that it reaches everyone in a few rounds.
void KillChildren() {
  const int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[4096];
  const ssize_t got = read(fd, text, sizeof(text));
  close(fd);
  pid_t pid = 0;
  for (ssize_t i = 0; i < got; ++i) {
    if (text[i] >= '0' && text[i] <= '9') {
      pid = pid * 10 + (text[i] - '0');
    } else {
      if (pid > 1) kill(pid, SIGKILL);
      pid = 0;
    }
  }
}

// Kills and reaps all descendants, the program among them.
void KillAll(pid_t program, ChildEnd* end) {
  kill(-program, SIGKILL);
  for (int i = 0; i < kReapTries; ++i) {
    if (OwnPidNamespace()) {  // nobody can fork once this signal is pending
      if (i % kKillEvery == 0) kill(-1, SIGKILL);
    } else {
      KillChildren();
    }
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid == program) end->wait_status = status;
    }
    if (pid < 0 && errno == ECHILD) return;
    poll(nullptr, 0, 1);
  }
}

// Waits for the program; true when it has ended and is reaped, with orphans reaped meanwhile.
bool Reap(pid_t program, ChildEnd* end) {
  int status = 0;
  pid_t pid = 0;
  bool ended = false;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != program) continue;
    ended = true;
    end->wait_status = status;
  }
  return ended;
}

void Watch(const ChildPlan& plan, pid_t program, int signals, ChildEnd* end) {
  const bool counts = plan.max_processes > 0 && OwnPidNamespace() && plan.sandbox.mounts;
  while (!Reap(program, end)) {
    pollfd fds[] = {{plan.control, POLLIN, 0}, {signals, POLLIN, 0}};
    poll(fds, 2, counts ? kCountEveryMs : -1);
    if (fds[1].revents != 0) {
      signalfd_siginfo drop[8];
      static_cast<void>(!read(signals, drop, sizeof(drop)));
    }
    end->killed = fds[0].revents != 0;
    end->too_many_processes = counts && CountProcesses() > plan.max_processes + 1;
    if (end->killed || end->too_many_processes) return;
  }
}

[[noreturn]] void Init(const ChildPlan& plan, const IdMaps& maps) {
  setsid();
  CloseOthers(plan);
  static_cast<void>(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
  if (const char* what = EnterSandbox(plan, maps); what != nullptr) Fail(plan, what);
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const int signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  if (signals < 0) Fail(plan, "signalfd");
  static_cast<void>(setpriority(PRIO_PROCESS, 0, kInitNice));
  const pid_t program = RawFork(0);
  if (program == 0) RunProgram(plan);
  if (program < 0) Fail(plan, "fork");
  for (const int fd : {plan.null, plan.out, plan.talk, plan.channel, plan.failed}) close(fd);
  ChildEnd end;
  Watch(plan, program, signals, &end);
  KillAll(program, &end);
  static_cast<void>(!write(plan.done, &end, sizeof(end)));
  _exit(0);
}

// Whether a child can be shut in so.
bool Works(const Sandbox& sandbox) {
  ChildPlan plan;
  plan.sandbox = sandbox;
  plan.writable = {"/"};  // bound upon itself and left writable: all steps are tried
  const IdMaps maps;
  const pid_t pid = RawFork(sandbox.namespaces);
  if (pid == 0) {
    const bool entered = EnterSandbox(plan, maps) == nullptr;
    const pid_t second = entered ? RawFork(0) : -1;
    if (second == 0) _exit(0);
    _exit(second > 0 && waitpid(second, nullptr, 0) == second ? 0 : 1);
  }
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return pid > 0 && status == 0;
}

constexpr int kAll = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS;
constexpr Sandbox kSandboxes[] = {
    {kAll, true, "pid, net, ipc and mount namespaces"},
    {kAll | CLONE_NEWUSER, true, "user, pid, net, ipc and mount namespaces"},
    {CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC, false, "pid, net and ipc namespaces"},
    {CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUSER, false,
     "user, pid, net and ipc namespaces"},
    {0, false, "none"},
};

}  // namespace

const Sandbox& BestSandbox() {
  static const Sandbox best = [] {
    for (const Sandbox& sandbox : kSandboxes) {
      if (sandbox.namespaces == 0 || Works(sandbox)) return sandbox;
    }
    return Sandbox{};
  }();
  return best;
}

pid_t StartChild(const ChildPlan& plan) {
  int namespaces = plan.sandbox.namespaces;
  if (plan.network) namespaces &= ~CLONE_NEWNET;
  const IdMaps maps;
  // Signals wait until the child has cleared them: no handler of ours may run in it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = RawFork(namespaces);
  if (pid == 0) Init(plan, maps);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

}  // namespace kb
