#include "tdd/sandbox_mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace kb {
namespace {

bool WriteText(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const auto size = static_cast<ssize_t>(std::strlen(text));
  const bool ok = write(fd, text, static_cast<size_t>(size)) == size;
  close(fd);
  return ok;
}

// <linux/mount.h> has these from 5.12 on, and clashes with <sys/mount.h> in some versions.
struct MountAttributes {
  uint64_t set = 0, clear = 0, propagation = 0, user_ns = 0;
};
constexpr uint64_t kReadOnly = 1;
constexpr long kMountSetattr = 442;
constexpr int kRecursive = 0x8000;

bool SetMount(const char* path, int flags, const MountAttributes& attributes) {
  return syscall(kMountSetattr, AT_FDCWD, path, flags, &attributes, sizeof(attributes)) == 0;
}

// What of /proc is the whole system's, and could be written by its owner without any capability.
constexpr const char* kOfTheSystem[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
                                        "/proc/bus", "/proc/fs"};

// A /proc that shows our own processes alone; all but the writable folders read-only. /proc itself
// is not: cuInit fails then (CUDA 13.0, driver 580).
const char* EnterMounts(const ChildPlan& plan) {
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "private mounts";
  for (const char* folder : plan.writable) {
    if (mount(folder, folder, nullptr, MS_BIND | MS_REC, nullptr) != 0) return "bind mount";
  }
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return "mount of /proc";
  }
  for (const char* path : kOfTheSystem) {
    if (mount(path, path, nullptr, MS_BIND, nullptr) != 0 && errno != ENOENT)
      return "part of /proc";
  }
  if (!SetMount("/", kRecursive, {.set = kReadOnly})) return "read-only mounts";
  if (!SetMount("/proc", 0, {.clear = kReadOnly})) return "writable /proc";
  for (const char* folder : plan.writable) {
    if (!SetMount(folder, 0, {.clear = kReadOnly})) return "writable folder";
  }
  return nullptr;
}

}  // namespace

IdMaps::IdMaps() {
  std::snprintf(user, sizeof(user), "%u %u 1", geteuid(), geteuid());
  std::snprintf(group, sizeof(group), "%u %u 1", getegid(), getegid());
}

const char* EnterSandbox(const ChildPlan& plan, const IdMaps& maps) {
  if ((plan.sandbox.namespaces & CLONE_NEWUSER) != 0) {
    static_cast<void>(WriteText("/proc/self/setgroups", "deny"));
    if (!WriteText("/proc/self/uid_map", maps.user)) return "uid_map";
    if (!WriteText("/proc/self/gid_map", maps.group)) return "gid_map";
  }
  return plan.sandbox.mounts ? EnterMounts(plan) : nullptr;
}

}  // namespace kb
