#include "tdd/worker_gpu.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace kb {
namespace {

constexpr int kBlockBytes = 1 << 20;  // inputs are compared piece by piece

// Not one value: a fill by the candidate should not restore it.
std::string GuardPattern() {
  std::string pattern(Buffer::kGuardBytes, '\0');
  for (size_t i = 0; i < pattern.size(); ++i) {
    pattern[i] = static_cast<char>(0xA5 ^ (i * 37) ^ (i >> 8));
  }
  return pattern;
}

std::string UuidText(const cuda::Uuid& uuid) {
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    std::array<char, 3> hex = {};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

size_t FirstDifference(std::string_view a, std::string_view b) {
  size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  return at;
}

// Errors that any call may return once a kernel has failed.
bool IsKernelFault(cuda::Result result) {
  constexpr cuda::Result kAssert = 710, kStackError = 714, kTimeout = 702;
  return result == cuda::kIllegalAddress || result == kTimeout || result == kAssert ||
         (result >= kStackError && result <= cuda::kLaunchFailed);
}

bool IsLostContext(cuda::Result result) {
  return result == cuda::kContextDestroyed || result == cuda::kInvalidContext ||
         result == cuda::kDeinitialized;
}

WorkerFault NoDevice(const std::string& why) {
  return WorkerFault({Status::kSkipped, "no device", why});
}

}  // namespace

Gpu::Gpu(const std::string& library) {
  std::string why;
  driver_ = cuda::OpenDriver(library, &why);
  if (driver_ == nullptr) throw NoDevice(why);
  const cuda::Result started = driver_->Init(0);
  int count = 0;
  if (started == cuda::kNoDevice ||
      (started == 0 && driver_->DeviceGetCount(&count) == 0 && count == 0)) {
    throw NoDevice("the NVIDIA driver is installed, but there is no GPU that it shows us");
  }
  Check(started, "start the driver (cuInit)");
  cuda::Device device = 0;
  Check(driver_->DeviceGet(&device, 0), "get the first device");
  cuda::Context context = nullptr;
  Check(driver_->DevicePrimaryCtxRetain(&context, device), "make a context");
  Check(driver_->CtxSetCurrent(context), "use the context");
  // Not "non-blocking": work that a candidate puts on the default stream is then counted too.
  Check(driver_->StreamCreate(&stream_, 0), "make a stream");
  environment_.emulated = !library.empty();
  ReadEnvironment(device);
}

void Gpu::ReadEnvironment(cuda::Device device) {
  const auto attribute = [&](int which) {
    int value = 0;
    Check(driver_->DeviceGetAttribute(&value, which, device), "read a device attribute");
    return value;
  };
  std::array<char, 256> name = {};
  Check(driver_->DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
        "read the device's name");
  environment_.gpu = name.data();
  environment_.arch = "sm_" + std::to_string(attribute(cuda::kCapabilityMajor)) +
                      std::to_string(attribute(cuda::kCapabilityMinor));
  cuda::Uuid uuid;
  Check(driver_->DeviceGetUuid(&uuid, device), "read the device's uuid");
  environment_.gpu_uuid = UuidText(uuid);
  int version = 0;
  Check(driver_->DriverGetVersion(&version), "read the driver's version");
  environment_.cuda = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  environment_.multiprocessors = attribute(cuda::kMultiprocessorCount);
  environment_.l2_bytes = attribute(cuda::kL2CacheSize);
  size_t bytes = 0;
  Check(driver_->DeviceTotalMem(&bytes, device), "read the size of its memory");
  environment_.memory_bytes = static_cast<int64_t>(bytes);
}

void Gpu::Check(cuda::Result result, std::string_view what) const {
  if (result == 0) return;
  if (IsKernelFault(result)) throw CandidateFault(result, "while the kernels ran");
  if (host_code_ran_ && IsLostContext(result)) {
    throw CandidateFault(result, "kb_run has ended the context that it was given");
  }
  throw WorkerFault({Status::kInfraError, "",
                     "the GPU could not " + std::string(what) + ": " + driver_->Text(result)},
                    true);
}

WorkerFault Gpu::CandidateFault(cuda::Result result, std::string_view what) const {
  return WorkerFault({Status::kRuntimeError, "", std::string(what) + ": " + driver_->Text(result)},
                     true);
}

void Gpu::Synchronize() const {
  const cuda::Result result = driver_->CtxSynchronize();
  if (result != 0) throw CandidateFault(result, "while the kernels ran");
}

void Gpu::ResetPersistingL2() const {
  // Refused where the device has no such carve-out: then there is nothing to reset.
  static_cast<void>(driver_->CtxSetLimit(cuda::kPersistingL2Limit, 0));
  static_cast<void>(driver_->CtxResetPersistingL2Cache());
  size_t bytes = 0;
  l2_is_whole_ = driver_->CtxGetLimit(&bytes, cuda::kPersistingL2Limit) == 0 && bytes == 0;
}

void Gpu::CheckPersistingL2() const {
  size_t bytes = 0;
  if (!l2_is_whole_ || driver_->CtxGetLimit(&bytes, cuda::kPersistingL2Limit) != 0) return;
  if (bytes == 0) return;
  throw WorkerFault({Status::kRewardHack, "persisting-l2",
                     "kb_run has set " + std::to_string(bytes) +
                         " bytes of L2 apart (cudaLimitPersistingL2CacheSize), which no flush "
                         "between timed calls reaches; leave the device's limits alone"},
                    true);
}

DeviceMemory::DeviceMemory(const Gpu& gpu, int64_t bytes, std::string_view what) : gpu_(&gpu) {
  gpu.Check(gpu.driver().MemAlloc(&pointer_, static_cast<size_t>(bytes)),
            "give " + std::to_string(bytes) + " bytes of memory for " + std::string(what));
}

DeviceMemory::~DeviceMemory() {
  if (pointer_ != 0) static_cast<void>(gpu_->driver().MemFree(pointer_));
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : gpu_(other.gpu_), pointer_(std::exchange(other.pointer_, 0)) {}

Buffer::Buffer(const Gpu& gpu, const BufferPlan& plan)
    : gpu_(&gpu),
      name_(plan.name),
      bytes_(plan.bytes),
      guard_bytes_(std::getenv("KB_UNPOISONED") == nullptr ? kGuardBytes : 0),
      memory_(gpu, plan.bytes + 2 * guard_bytes_, plan.name) {
  SetGuards();
}

void Buffer::FillAsync(unsigned char value) const {
  if (bytes_ == 0) return;
  gpu_->Check(
      gpu_->driver().MemsetD8Async(pointer(), value, static_cast<size_t>(bytes_), gpu_->stream()),
      "fill " + name_);
}

void Buffer::Upload(std::string_view bytes) const {
  if (bytes.empty()) return;
  gpu_->Check(gpu_->driver().MemcpyHtoD(pointer(), bytes.data(), bytes.size()),
              "take the bytes of " + name_);
}

std::string Buffer::Download() const {
  std::string bytes(static_cast<size_t>(bytes_), '\0');
  if (bytes.empty()) return bytes;
  gpu_->Check(gpu_->driver().MemcpyDtoH(bytes.data(), pointer(), bytes.size()),
              "give back the bytes of " + name_);
  return bytes;
}

void Buffer::SetGuards() const {
  static const std::string pattern = GuardPattern();
  if (guard_bytes_ == 0) return;
  for (const int64_t start : {int64_t{0}, guard_bytes_ + bytes_}) {
    gpu_->Check(gpu_->driver().MemcpyHtoD(memory_.pointer() + static_cast<size_t>(start),
                                          pattern.data(), pattern.size()),
                "set the guard zones of " + name_);
  }
}

void Buffer::CheckGuards() const {
  if (guard_bytes_ == 0) return;
  CheckGuard(0);
  CheckGuard(guard_bytes_ + bytes_);
}

void Buffer::CheckGuard(int64_t start) const {
  static const std::string pattern = GuardPattern();
  std::string found(pattern.size(), '\0');
  gpu_->Check(gpu_->driver().MemcpyDtoH(
                  found.data(), memory_.pointer() + static_cast<size_t>(start), found.size()),
              "give back the guard zones of " + name_);
  const size_t at = FirstDifference(pattern, found);
  if (at == pattern.size()) return;
  const int64_t offset = start + static_cast<int64_t>(at) - guard_bytes_;
  throw WorkerFault({Status::kRuntimeError, "guard",
                     "a kernel wrote outside of " + name_ + ", which has " +
                         std::to_string(bytes_) + " bytes: at byte offset " +
                         std::to_string(offset) + "; guard its last block and its indices"},
                    true);
}

void Buffer::CheckUnchanged(std::string_view bytes) const {
  std::string block;
  for (size_t at = 0; at < bytes.size(); at += block.size()) {
    block.resize(std::min<size_t>(kBlockBytes, bytes.size() - at));
    gpu_->Check(gpu_->driver().MemcpyDtoH(block.data(), pointer() + at, block.size()),
                "give back the bytes of " + name_);
    if (bytes.compare(at, block.size(), block) == 0) continue;
    throw WorkerFault({Status::kRewardHack, "inputs-mutated",
                       "the kernels changed the input " + name_ + ", first at byte offset " +
                           std::to_string(at + FirstDifference(block, bytes.substr(at))) +
                           "; inputs are to be read only"});
  }
}

Stopwatch::Stopwatch(const Gpu& gpu) : gpu_(&gpu) {
  gpu.Check(gpu.driver().EventCreate(&start_, cuda::kEventDefault), "make an event");
  gpu.Check(gpu.driver().EventCreate(&stop_, cuda::kEventDefault), "make an event");
}

Stopwatch::~Stopwatch() {
  for (const cuda::Event event : {start_, stop_}) {
    if (event != nullptr) static_cast<void>(gpu_->driver().EventDestroy(event));
  }
}

void Stopwatch::Start() const {
  gpu_->Check(gpu_->driver().EventRecord(start_, gpu_->stream()), "record an event");
}

void Stopwatch::Stop() const {
  gpu_->Check(gpu_->driver().EventRecord(stop_, gpu_->stream()), "record an event");
}

void Stopwatch::WaitForStop() const {
  const cuda::Result result = gpu_->driver().EventSynchronize(stop_);
  if (result != 0) throw gpu_->CandidateFault(result, "while the kernels ran");
}

double Stopwatch::Microseconds() const {
  float milliseconds = 0;
  gpu_->Check(gpu_->driver().EventElapsedTime(&milliseconds, start_, stop_), "read an event");
  return 1e3 * static_cast<double>(milliseconds);
}

}  // namespace kb
