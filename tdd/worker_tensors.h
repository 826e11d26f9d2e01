// The buffers of a plan on the GPU: inputs read from files, shared by all programs of a request;
// outputs and workspaces of each program alone. The worker's side.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tdd/plan.h"
#include "tdd/worker_gpu.h"
#include "tdd/worker_program.h"

namespace kb {

using Buffers = std::map<std::string, std::unique_ptr<Buffer>>;

// A file's bytes, as they are on disk, without a copy.
class MappedFile {
 public:
  // Throws kInfraError if it is not there or has not `bytes` bytes.
  MappedFile(const std::string& path, int64_t bytes);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// The inputs of `folder`/in.<name>, resident.
class InputSet {
 public:
  InputSet(const Gpu& gpu, const RunPlan& plan, const std::string& folder);
  [[nodiscard]] const Buffer* Find(const std::string& name) const;
  // Throws kRuntimeError "guard" and kRewardHack "inputs-mutated".
  void Check() const;

 private:
  Buffers buffers_;
  std::map<std::string, MappedFile> files_;
};

// Sets that stay on the GPU from one request to the next, so that a measurement of many batches
// loads its inputs once. By folder; a folder must not change while it is in use.
class InputCache {
 public:
  // In the order of `folders`. Sets of other folders are let go first. `*fresh`: whether any was
  // loaded now.
  [[nodiscard]] std::vector<const InputSet*> Get(const Gpu& gpu, const RunPlan& plan,
                                                 const std::vector<std::string>& folders,
                                                 bool* fresh);

 private:
  std::map<std::string, InputSet> sets_;
};

// Small parts of the outputs, at places that no candidate can know: one of them is poisoned before
// a run among many, to see whether that run still writes it.
class Windows {
 public:
  explicit Windows(const Gpu& gpu);
  void Add(const Buffer& output);
  // What a run has written that found nothing but poison.
  void Learn();
  void PoisonOneAsync();
  // Throws kRewardHack "timed-output" if the one is poisoned still.
  void Check() const;

 private:
  struct Window {
    const Buffer* output;
    cuda::DevicePointer pointer;
    size_t bytes;
    std::string right;
  };
  [[nodiscard]] size_t Draw(size_t below);
  [[nodiscard]] std::string Download(const Window& window) const;
  const Gpu& gpu_;
  std::mt19937_64 engine_;
  std::vector<Window> windows_;
  const Window* poisoned_ = nullptr;
};

// Outputs and workspaces of one program.
class OwnTensors {
 public:
  OwnTensors(const Gpu& gpu, const RunPlan& plan);
  // The plan's buffers, with the inputs from `inputs`.
  [[nodiscard]] FindBuffer Find(const InputSet& inputs) const;
  // 0xFF bytes into all of them: NaN, and no small number. (Not if the worker was told not to.)
  void PoisonAsync() const;
  [[nodiscard]] Windows ChooseWindows(const Gpu& gpu) const;
  void CheckGuards() const;
  [[nodiscard]] std::vector<std::string> Download() const;  // the outputs, in the plan's order
  // Writes out.<name> into `folder`, which is made.
  void Write(const std::vector<std::string>& outputs, const std::string& folder) const;

 private:
  Buffers buffers_;
  std::vector<std::string> outputs_;
};

}  // namespace kb
