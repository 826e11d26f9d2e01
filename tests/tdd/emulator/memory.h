// Device memory of the emulator: host memory between borders that nobody may touch.
#pragma once

#include <cstdint>
#include <map>

namespace kb_emulator {

class DeviceMemory {
 public:
  // Fresh memory of 0xCD bytes, aligned to 256 as cuMemAlloc's; 0: no room.
  [[nodiscard]] uint64_t Allocate(uint64_t bytes);
  [[nodiscard]] bool Free(uint64_t address);  // false: not an allocation's begin
  // Does one allocation hold all of it?
  [[nodiscard]] bool Holds(uint64_t address, uint64_t bytes) const;
  // The few bytes between the end of an allocation and its border are as they were.
  [[nodiscard]] bool Intact() const;
  [[nodiscard]] uint64_t used_bytes() const { return used_; }

  static constexpr uint64_t kTotalBytes = uint64_t{16} << 30;

 private:
  struct Allocation {
    uint64_t bytes, map, map_bytes;
  };
  std::map<uint64_t, Allocation> allocations_;
  uint64_t used_ = 0;
};

}  // namespace kb_emulator
