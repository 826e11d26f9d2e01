// Streams of the emulator: work runs at once, in order, but behind a wait for a value it queues
// up until somebody synchronizes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

namespace kb_emulator {

class Stream {
 public:
  using Work = std::function<void()>;

  void Do(Work work);
  // Work after this waits until (int32)(*at - value) >= 0, *at == value, or *at & value
  // (flags 0, 1, 2, as CUstreamWaitValue_flags has them).
  void WaitValue(const volatile uint32_t* at, uint32_t value, unsigned flags);
  // Runs what is queued. False: a value did not come within `limit_s`.
  [[nodiscard]] bool Drain(double limit_s);
  [[nodiscard]] bool idle() const { return queue_.empty(); }

 private:
  struct Item {
    Work work;
    const volatile uint32_t* at = nullptr;
    uint32_t value = 0;
    unsigned flags = 0;
  };
  static bool Reached(const Item& item);
  void RunReady();
  std::deque<Item> queue_;
};

}  // namespace kb_emulator
