// What an emulated cubin (a host shared object made by EmulatedToolchain) and the stand-in driver
// say to each other. Included by both sides; plain structs alone.
#pragma once

#include <stdint.h>

namespace kb_emulator {

inline constexpr int kAbi = 1;
inline constexpr unsigned kWarp = 32;
inline constexpr unsigned kMaxThreads = 1024;
inline constexpr uint64_t kMaxDynamicShared = 227 << 10;
inline constexpr unsigned kPad = 1024;
inline constexpr uint64_t kDynamicSharedRoom = 228 << 10;  // whole pages

struct Index {
  unsigned x, y, z;
};

struct Thread {
  Index index;
  unsigned lane, warp;
};

// CUresult values that a kernel can end with.
enum Fault {
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kAssert = 710,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kLaunchFailed = 719
};

// What a thread may ask of the driver while it runs.
struct Api {
  // __syncthreads: gives the number of threads that came with `predicate`; `*live`: of all.
  unsigned (*barrier)(int predicate, unsigned* live);
  // Waits for all live lanes of `mask`; the 32 values they brought, valid until this lane's
  // next call; `*present`: the lanes that brought one.
  const uint64_t* (*gather)(unsigned mask, uint64_t value, unsigned* present);
  unsigned (*active_mask)();
  void (*yield)();  // lets the others run: in loops that wait
  void (*fail)(int fault, const char* what);
  uint64_t (*nanoseconds)();
};

struct Kernel {
  void (*call)(void** args);
  const unsigned* arg_bytes;
  const unsigned* arg_aligns;
  int args;
};

// Exported as `kb_emulator_module`.
struct Module {
  int abi;
  const Api** api;
  const Thread** thread;  // the one that runs
  Index *block, *block_dim, *grid_dim;
  unsigned char* dynamic_shared;  // kDynamicSharedRoom bytes, on a page
  // Static shared memory is the module's thread-local storage, between two pads of kPad bytes
  // that nobody may touch: the calling thread's addresses of these.
  void (*pads)(unsigned char** before, unsigned char** after);
};

}  // namespace kb_emulator
