#include "tests/tdd/emulator/memory.h"

#include <sys/mman.h>

#include <cstring>

namespace kb_emulator {
namespace {

constexpr uint64_t kBorder = 16 << 20;  // catches wild strides too; address space alone
constexpr uint64_t kPage = 4096;
constexpr uint64_t kAlign = 256;
constexpr uint64_t kLarge = 64 << 20;  // pages of larger ones stay untouched, and zero
constexpr int kFresh = 0xcd;

uint64_t RoundUp(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

// The end of the allocation stands at the upper border, as near as the alignment lets it: going
// past the end is the commoner mistake.
uint64_t DeviceMemory::Allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > kTotalBytes - used_) return 0;
  uint64_t room = RoundUp(bytes, kPage);
  uint64_t map_bytes = room + 2 * kBorder;
  void* map =
      mmap(nullptr, map_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return 0;
  auto* begin = static_cast<unsigned char*>(map) + kBorder;
  if (mprotect(begin, room, PROT_READ | PROT_WRITE) != 0) {
    munmap(map, map_bytes);
    return 0;
  }
  if (room < kLarge) memset(begin, kFresh, room);
  auto address = reinterpret_cast<uint64_t>(begin) + room - RoundUp(bytes, kAlign);
  memset(begin + room - (RoundUp(bytes, kAlign) - bytes), kFresh, RoundUp(bytes, kAlign) - bytes);
  allocations_[address] = {bytes, reinterpret_cast<uint64_t>(map), map_bytes};
  used_ += bytes;
  return address;
}

bool DeviceMemory::Intact() const {
  for (const auto& [address, allocation] : allocations_) {
    const auto* end = reinterpret_cast<const unsigned char*>(address + allocation.bytes);
    const auto* border =
        reinterpret_cast<const unsigned char*>(address + RoundUp(allocation.bytes, kAlign));
    for (; end < border; ++end) {
      if (*end != kFresh) return false;
    }
  }
  return true;
}

bool DeviceMemory::Free(uint64_t address) {
  auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  munmap(reinterpret_cast<void*>(found->second.map), found->second.map_bytes);
  used_ -= found->second.bytes;
  allocations_.erase(found);
  return true;
}

bool DeviceMemory::Holds(uint64_t address, uint64_t bytes) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  auto [begin, allocation] = *--after;
  return address - begin <= allocation.bytes && bytes <= allocation.bytes - (address - begin);
}

}  // namespace kb_emulator
