// Holds the GPU's stream until all that is to be timed is queued. The worker's side.
#pragma once

#include <cstdint>

#include "tdd/driver.h"
#include "tdd/worker_gpu.h"

namespace kb {

// Pinned memory that the stream waits for. Between Close and Open nothing may wait for the stream.
class Hold {
 public:
  explicit Hold(const Gpu& gpu);
  ~Hold();  // opens, and waits for the stream
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  [[nodiscard]] bool works() const { return works_; }
  void Close() const;
  void Open() const { *flag_ = 1; }

 private:
  const Gpu& gpu_;
  volatile uint32_t* flag_ = nullptr;
  cuda::DevicePointer address_ = 0;
  bool works_ = false;
};

}  // namespace kb
