// The worker's operations on loaded programs. Each throws WorkerFault. Outputs are written below
// the worker's own working folder, whence kb takes them: a worker may write nowhere else.
#pragma once

#include <string>

#include "tdd/nvml.h"
#include "tdd/runner.h"
#include "tdd/worker_gpu.h"
#include "tdd/worker_program.h"
#include "tdd/worker_tensors.h"

namespace kb {

// Where outputs are put, below the working folder: "run", "check.0", "check.1", ...
inline constexpr const char kRunFolder[] = "run";
[[nodiscard]] std::string CheckFolder(size_t index);

[[nodiscard]] RunReply RunOnGpu(const Gpu& gpu, const LoadedProgram& program,
                                const RunRequest& request);

[[nodiscard]] MeasureReply MeasureOnGpu(const Gpu& gpu, const Nvml& nvml,
                                        const LoadedProgram& baseline,
                                        const LoadedProgram& candidate,
                                        const MeasureRequest& request, InputCache* cache);

[[nodiscard]] EnergyReply EnergyOnGpu(const Gpu& gpu, const Nvml& nvml,
                                      const LoadedProgram& program, const EnergyRequest& request,
                                      InputCache* cache);

// Best of some device-to-device copies of 1 GiB, and of bf16 products of 8192 x 8192 matrices by
// cuBLAS (opened below the CUDA folders or by the loader's path). Smaller on small memories.
[[nodiscard]] PeaksReply PeaksOfGpu(const Gpu& gpu);

}  // namespace kb
