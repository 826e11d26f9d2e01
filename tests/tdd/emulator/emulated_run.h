// One run of a plan on the stand-in driver, in a process of its own: a fault is an answer. For
// tests of the emulator and for try_kernel; kb itself runs plans in its worker.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tdd/plan.h"

namespace kb {

using BufferBytes = std::map<std::string, std::string>;  // by the buffer's name

struct EmulatedRun {
  int result = -1;      // a CUresult: of what failed first, or 0
  std::string error;    // "CUDA_ERROR_ILLEGAL_ADDRESS: ..."; "died: signal 11"
  BufferBytes outputs;  // of all buffers but inputs, if result is 0
};

// `driver`: the path of fake_cuda.so. Outputs and workspaces start as 0xFF bytes (or zeros, as the
// plan says); an input that was written to is an error. `environment`: "NAME=value", added.
[[nodiscard]] EmulatedRun RunOnEmulator(const std::string& driver, const std::string& cubin,
                                        const RunPlan& plan, const BufferBytes& inputs,
                                        const std::vector<std::string>& environment = {});

}  // namespace kb
