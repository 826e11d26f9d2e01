// Timings one at a time: a lock file for each GPU, shared by all users of the machine. Goes with
// the process that holds it.
#pragma once

#include <string>

namespace kb {

enum class GpuUse {
  kAlone,   // a timing: nobody else may use the GPU meanwhile
  kShared,  // a run: others may run, but nobody may time
};

class GpuLock {
 public:
  // No uuid: nothing is locked. Waits at most `timeout_s`; held() is then false. Where the file
  // cannot be made, held() is true and nothing is locked: a read-only machine has no other users of
  // ours. `folder`: "" is /tmp.
  GpuLock(const std::string& gpu_uuid, GpuUse use, double timeout_s,
          const std::string& folder = "");
  ~GpuLock();
  GpuLock(const GpuLock&) = delete;
  GpuLock& operator=(const GpuLock&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  int fd_ = -1;
  bool held_ = true;
};

}  // namespace kb
