// Loaded candidates, and calls of them with every argument filled in. The worker's side.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tdd/driver.h"
#include "tdd/kb_candidate.h"
#include "tdd/plan.h"
#include "tdd/worker_gpu.h"

namespace kb {

// A cubin, or a shared object with kb_run (which stays loaded: its threads do not survive less).
class LoadedProgram {
 public:
  // Throws kLinkError if `path` does not load.
  LoadedProgram(const Gpu& gpu, bool host, const std::string& path);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  [[nodiscard]] bool host() const { return run_ != nullptr; }
  // Throws kLinkError that names the kernels that are there.
  [[nodiscard]] cuda::Function Find(const std::string& kernel) const;
  [[nodiscard]] int Run(const kb_args& args, cuda::Stream stream) const {
    return run_(&args, stream);
  }

 private:
  [[nodiscard]] std::string KernelNames() const;
  const Gpu& gpu_;
  cuda::Module module_ = nullptr;
  int (*run_)(const kb_args*, CUstream_st*) = nullptr;
};

// The buffer of that name, which lives as long as the call.
using FindBuffer = std::function<const Buffer&(const std::string& name)>;

// One run of a program: what is enqueued is exactly what is timed.
class Call {
 public:
  // Throws kLinkError (no such kernel) and kLaunchError (arguments, shared memory, tensor maps).
  Call(const Gpu& gpu, const LoadedProgram& program, const RunPlan& plan, const FindBuffer& find);

  // Clears the workspaces that want it and launches. Throws kLaunchError, kRuntimeError.
  void Enqueue() const;
  [[nodiscard]] bool host() const { return program_.host(); }
  [[nodiscard]] size_t size() const { return launches_.size() + cleared_.size(); }

 private:
  struct Launch {
    cuda::LaunchConfig config;
    cuda::LaunchAttribute cluster;
    cuda::Function function = nullptr;
    std::vector<uint64_t> bytes;  // of all arguments, and zeros behind them
    std::vector<void*> arguments;
    std::string name;  // "launch 1 (kernel k, grid 2x1x1, ...)"
  };
  using Maps = std::map<std::string, cuda::TensorMap>;

  [[nodiscard]] Maps EncodeMaps(const RunPlan& plan, const FindBuffer& find) const;
  void AddLaunch(const LaunchPlan& plan, const FindBuffer& find, const Maps& maps);
  void SetAttributes(const Launch& launch) const;
  void CheckArguments(const LaunchPlan& plan, const Launch& launch) const;
  void EnqueueLaunch(const Launch& launch) const;
  void RunHost() const;

  const Gpu& gpu_;
  const LoadedProgram& program_;
  std::vector<const Buffer*> cleared_;
  std::vector<std::unique_ptr<Launch>> launches_;
  // Host kind:
  std::vector<void*> pointers_;
  std::vector<int64_t> bytes_, axes_;
  std::vector<double> scalars_;
};

}  // namespace kb
