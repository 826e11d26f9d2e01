// Runs a kernel's grid on the CPU: block after block, the threads of a block as fibers in a
// pseudo-random order, so that a missing barrier changes results. One grid at a time.
#pragma once

#include <string>

#include "tests/tdd/emulator/abi.h"

namespace kb_emulator {

struct Grid {
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
  void** args = nullptr;
  Index blocks = {1, 1, 1}, threads = {1, 1, 1};
  uint64_t dynamic_shared = 0;
  uint64_t seed = 0;
  bool shuffled = true;  // the order of blocks; else x fastest, upward
  double limit_s = 60;   // of CPU time: then kLaunchTimeout
};

struct Outcome {
  int fault = 0;  // a CUresult; 0: all threads came to their end
  std::string why;
};

[[nodiscard]] Outcome RunGrid(const Grid& grid);

// The size of the module's static shared memory, without its pads.
[[nodiscard]] uint64_t StaticSharedBytes(const Module& module);

}  // namespace kb_emulator
