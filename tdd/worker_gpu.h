// The worker's GPU: driver, primary context, one stream, and buffers between guard zones. Faults
// are thrown as WorkerFault and become the reply's verdict.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kb/error.h"
#include "tdd/driver.h"
#include "tdd/plan.h"
#include "tdd/runner.h"

namespace kb {

class WorkerFault : public Error {
 public:
  // `fatal`: the context may be spoilt, so that the next request needs another worker.
  explicit WorkerFault(Verdict verdict, bool fatal = false)
      : Error(verdict.message), verdict_(std::move(verdict)), fatal_(fatal) {}
  [[nodiscard]] const Verdict& verdict() const { return verdict_; }
  [[nodiscard]] bool fatal() const { return fatal_; }

 private:
  Verdict verdict_;
  bool fatal_;
};

// Opens the driver, takes the first device's primary context, so that code that uses the runtime
// API shares it. One object a process, used by one thread.
class Gpu {
 public:
  explicit Gpu(const std::string& library);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  [[nodiscard]] const cuda::Driver& driver() const { return *driver_; }
  [[nodiscard]] cuda::Stream stream() const { return stream_; }
  [[nodiscard]] const Environment& environment() const { return environment_; }
  // Throws kInfraError: what we asked of the driver ourselves. kRuntimeError, fatal: a kernel has
  // failed before, or the context is gone after code of a host candidate ran.
  void Check(cuda::Result result, std::string_view what) const;
  // Waits for all streams. Throws kRuntimeError, fatal, for what the candidate's code did.
  void Synchronize() const;
  // The verdict for an error that came back while or after the candidate's code ran.
  [[nodiscard]] WorkerFault CandidateFault(cuda::Result result, std::string_view what) const;
  // Code of a host candidate runs now, which may do anything to the context.
  void NoteHostCode() const { host_code_ran_ = true; }
  // No L2 is set apart, and what was is given back.
  void ResetPersistingL2() const;
  // Throws kRewardHack "persisting-l2", fatal, if a part of L2 has been set apart since.
  void CheckPersistingL2() const;

 private:
  void ReadEnvironment(cuda::Device device);
  std::unique_ptr<cuda::Driver> driver_;
  cuda::Stream stream_ = nullptr;
  Environment environment_;
  mutable bool host_code_ran_ = false;
  mutable bool l2_is_whole_ = false;  // as ResetPersistingL2 has seen it
};

// Device memory, freed with the object.
class DeviceMemory {
 public:
  DeviceMemory(const Gpu& gpu, int64_t bytes, std::string_view what);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  [[nodiscard]] cuda::DevicePointer pointer() const { return pointer_; }

 private:
  const Gpu* gpu_;
  cuda::DevicePointer pointer_ = 0;
};

// A buffer of a plan between two guard zones of 4 KiB. Its start is aligned to 256 bytes at least.
class Buffer {
 public:
  static constexpr int64_t kGuardBytes = 4096;
  Buffer(const Gpu& gpu, const BufferPlan& plan);

  [[nodiscard]] cuda::DevicePointer pointer() const {
    return memory_.pointer() + static_cast<size_t>(guard_bytes_);
  }
  [[nodiscard]] int64_t bytes() const { return bytes_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  void FillAsync(unsigned char value) const;  // on the GPU's stream
  void Upload(std::string_view bytes) const;
  [[nodiscard]] std::string Download() const;
  void SetGuards() const;
  // Throws kRuntimeError "guard" that names the buffer and the first offset.
  void CheckGuards() const;
  // Throws kRewardHack "inputs-mutated" if it is not `bytes` any more.
  void CheckUnchanged(std::string_view bytes) const;

 private:
  void CheckGuard(int64_t start) const;
  const Gpu* gpu_;
  std::string name_;
  int64_t bytes_;
  int64_t guard_bytes_;  // 0 in a process with KB_UNPOISONED, so that memcheck sees the true ends
  DeviceMemory memory_;
};

// A pair of events around a piece of the stream.
class Stopwatch {
 public:
  explicit Stopwatch(const Gpu& gpu);
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void Start() const;
  void Stop() const;
  void WaitForStop() const;
  [[nodiscard]] double Microseconds() const;  // after a synchronisation

 private:
  const Gpu* gpu_;
  cuda::Event start_ = nullptr, stop_ = nullptr;
};

}  // namespace kb
