#include "tests/tdd/emulator/stream.h"

#include <chrono>
#include <thread>
#include <utility>

namespace kb_emulator {

void Stream::Do(Work work) {
  queue_.push_back({std::move(work)});
  RunReady();
}

void Stream::WaitValue(const volatile uint32_t* at, uint32_t value, unsigned flags) {
  queue_.push_back({nullptr, at, value, flags});
  RunReady();
}

bool Stream::Reached(const Item& item) {
  uint32_t now = *item.at;
  switch (item.flags & 3u) {
    case 0:
      return static_cast<int32_t>(now - item.value) >= 0;
    case 1:
      return now == item.value;
    default:
      return (now & item.value) != 0;
  }
}

void Stream::RunReady() {
  while (!queue_.empty()) {
    if (queue_.front().at != nullptr && !Reached(queue_.front())) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();
    if (item.work) item.work();
  }
}

bool Stream::Drain(double limit_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(limit_s);
  for (RunReady(); !queue_.empty(); RunReady()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return true;
}

}  // namespace kb_emulator
