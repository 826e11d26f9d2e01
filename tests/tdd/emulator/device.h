// The one device of the emulator: its memory, streams and sticky fault, and how work gets there.
// All calls from one thread at a time. Results are CUresult values.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>

#include "tdd/driver.h"
#include "tests/tdd/emulator/memory.h"
#include "tests/tdd/emulator/module.h"
#include "tests/tdd/emulator/stream.h"

namespace kb_emulator {

using kb::cuda::LaunchConfig;

inline constexpr int kSuccess = 0;
inline constexpr int kInvalidValue = kb::cuda::kInvalidValue;
inline constexpr int kOutOfMemory = kb::cuda::kOutOfMemory;
inline constexpr int kNotInitialized = 3;
inline constexpr int kInvalidDevice = 101;
inline constexpr int kInvalidHandle = 400;
inline constexpr int kNotFound = kb::cuda::kNotFound;
inline constexpr int kNotReady = kb::cuda::kNotReady;
inline constexpr int kNotSupported = kb::cuda::kNotSupported;

struct Event {
  std::chrono::steady_clock::time_point when;
  Stream* stream = nullptr;
  bool recorded = false;
};

struct Device {
  bool initialized = false;
  int fault = 0;  // sticky, as on a GPU: only a new process gets rid of it
  uint64_t launches = 0;
  DeviceMemory memory;
  Stream default_stream;
  std::set<Stream*> streams;
};

[[nodiscard]] Device& TheDevice();
[[nodiscard]] int State();                     // what every call answers once a kernel has faulted
[[nodiscard]] Stream* StreamOf(void* handle);  // null and the like: the default stream
[[nodiscard]] int Drain(Stream* stream);
[[nodiscard]] int DrainAll();

// Adds work that a faulted context no longer does.
[[nodiscard]] int Do(void* stream, Stream::Work work);

// What of a copy is device memory, and must lie in one allocation.
struct Sides {
  bool to_device = false, from_device = false;
};
[[nodiscard]] int Copy(uint64_t to, uint64_t from, size_t bytes, Sides sides, void* stream);
[[nodiscard]] int CopyNow(uint64_t to, uint64_t from, size_t bytes, Sides sides);
[[nodiscard]] int Set(uint64_t at, unsigned char value, size_t bytes, void* stream);

// KB_EMULATOR_SEED, KB_EMULATOR_ORDER=forward and KB_EMULATOR_LIMIT_S say how kernels are run.
[[nodiscard]] int Launch(const LaunchConfig& config, Function* function, void** args);

}  // namespace kb_emulator
