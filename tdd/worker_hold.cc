#include "tdd/worker_hold.h"

namespace kb {

Hold::Hold(const Gpu& gpu) : gpu_(gpu) {
  const cuda::Driver& driver = gpu.driver();
  void* memory = nullptr;
  if (driver.StreamWaitValue32 == nullptr ||
      driver.MemHostAlloc(&memory, sizeof(uint32_t), cuda::kHostAllocDeviceMap) != 0) {
    return;
  }
  flag_ = static_cast<volatile uint32_t*>(memory);
  *flag_ = 1;
  works_ = driver.MemHostGetDevicePointer(&address_, memory, 0) == 0 &&
           driver.StreamWaitValue32(gpu.stream(), address_, 1, cuda::kWaitGreaterOrEqual) == 0;
}

Hold::~Hold() {
  if (flag_ == nullptr) return;
  Open();
  static_cast<void>(gpu_.driver().StreamSynchronize(gpu_.stream()));
  static_cast<void>(gpu_.driver().MemFreeHost(const_cast<uint32_t*>(flag_)));
}

void Hold::Close() const {
  *flag_ = 0;
  gpu_.Check(gpu_.driver().StreamWaitValue32(gpu_.stream(), address_, 1, cuda::kWaitGreaterOrEqual),
             "hold the stream");
}

}  // namespace kb
