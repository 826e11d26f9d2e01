// What ptxas says of each kernel when it is asked with -v: registers, spills, shared memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kb/value.h"

namespace kb {

struct KernelResources {
  std::string kernel;
  int registers = 0;  // a thread
  int barriers = 0;
  int stack_bytes = 0;                              // a thread
  int spill_store_bytes = 0, spill_load_bytes = 0;  // a thread
  int shared_bytes = 0;                             // static, a block
};

// From the log of NVRTC (--ptxas-options=-v) or nvcc (-Xptxas -v), CUDA 11 to 13. Kernels in the
// log's order; functions that are none are left out, as are lines of other kinds.
[[nodiscard]] std::vector<KernelResources> ReadPtxasLog(std::string_view log);

// {"name", "registers", "barriers", "stack_bytes", "spill_store_bytes", "spill_load_bytes",
// "shared_bytes"}.
[[nodiscard]] Value ToValue(const KernelResources& kernel);

}  // namespace kb
