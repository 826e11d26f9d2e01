// A stand-in for libcuda.so.1: the functions of tdd/driver.h over host memory, kernels on the
// CPU. No GPU: `kb_emulated` tells it apart, so that nothing it runs is ever recorded.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/tdd/emulator/device.h"
#include "tests/tdd/emulator/grid.h"

#define KB_DRIVER extern "C" __attribute__((visibility("default")))

namespace kb_emulator {
namespace {

struct ResultName {
  int result;
  const char *name, *text;
};
constexpr ResultName kNames[] = {
    {kSuccess, "CUDA_SUCCESS", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {200, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {kb::cuda::kLaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {kLaunchTimeout, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {kAssert, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {kIllegalInstruction, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"}};

struct Attribute {
  int attribute, value;
};
constexpr Attribute kAttributes[] = {
    {1, 1024},       {2, 1024},     {3, 1024},     {4, 64},         {5, 0x7fffffff}, {6, 65535},
    {7, 65535},      {8, 48 << 10}, {10, 32},      {12, 65536},     {13, 1000000},   {16, 4},
    {36, 1000000},   {37, 512},     {38, 1 << 20}, {39, 2048},      {75, 9},         {76, 0},
    {81, 228 << 10}, {92, 1},       {96, 1},       {97, 227 << 10}, {106, 32}};

}  // namespace
}  // namespace kb_emulator

using namespace kb_emulator;  // NOLINT: the driver's functions have no namespace of their own

KB_DRIVER const int kb_emulated = 1;

KB_DRIVER int cuInit(unsigned) {
  TheDevice().initialized = true;
  return kSuccess;
}
KB_DRIVER int cuDriverGetVersion(int* version) {
  *version = 13000;
  return kSuccess;
}
KB_DRIVER int cuGetErrorName(int error, const char** name) {
  for (const ResultName& known : kNames) {
    if (known.result == error) return *name = known.name, kSuccess;
  }
  *name = nullptr;
  return kInvalidValue;
}
KB_DRIVER int cuGetErrorString(int error, const char** text) {
  for (const ResultName& known : kNames) {
    if (known.result == error) return *text = known.text, kSuccess;
  }
  *text = nullptr;
  return kInvalidValue;
}

// ---- device and context ----
KB_DRIVER int cuDeviceGetCount(int* count) {
  *count = 1;
  return State();
}
KB_DRIVER int cuDeviceGet(int* device, int ordinal) {
  *device = 0;
  return State() != 0 ? State() : ordinal == 0 ? kSuccess : kInvalidDevice;
}
KB_DRIVER int cuDeviceGetName(char* name, int size, int) {
  snprintf(name, static_cast<size_t>(size), "%s", "kb emulator (no GPU)");
  return State();
}
KB_DRIVER int cuDeviceGetUuid_v2(unsigned char* uuid, int) {
  memset(uuid, 0xee, 16);
  return State();
}
KB_DRIVER int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = DeviceMemory::kTotalBytes;
  return State();
}
KB_DRIVER int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = 0;
  for (const Attribute& known : kAttributes) {
    if (known.attribute == attribute) *value = known.value;
  }
  return State();
}
KB_DRIVER int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &TheDevice();
  return State();
}
KB_DRIVER int cuCtxSetCurrent(void*) { return State(); }
KB_DRIVER int cuCtxSynchronize() { return DrainAll(); }
KB_DRIVER int cuCtxSetLimit(int, size_t) { return State(); }
KB_DRIVER int cuCtxGetLimit(size_t* value, int) {
  *value = 0;  // nothing is ever set apart
  return State();
}
KB_DRIVER int cuCtxResetPersistingL2Cache() { return State(); }

// ---- memory ----
KB_DRIVER int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  *total = DeviceMemory::kTotalBytes;
  *free_bytes = *total - TheDevice().memory.used_bytes();
  return State();
}
KB_DRIVER int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  if (State() != 0) return State();
  if (bytes == 0) return kInvalidValue;
  *address = TheDevice().memory.Allocate(bytes);
  return *address != 0 ? kSuccess : kOutOfMemory;
}
KB_DRIVER int cuMemFree_v2(uint64_t address) {
  const int result = DrainAll();
  return address == 0 || TheDevice().memory.Free(address) ? result : kInvalidValue;
}
KB_DRIVER int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  *address = calloc(1, bytes);
  return *address != nullptr ? State() : kOutOfMemory;
}
KB_DRIVER int cuMemFreeHost(void* address) {
  free(address);
  return State();
}
KB_DRIVER int cuMemHostGetDevicePointer_v2(uint64_t* address, void* host, unsigned) {
  *address = reinterpret_cast<uint64_t>(host);
  return State();
}
KB_DRIVER int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return CopyNow(to, reinterpret_cast<uint64_t>(from), bytes, {true, false});
}
KB_DRIVER int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return CopyNow(reinterpret_cast<uint64_t>(to), from, bytes, {false, true});
}
KB_DRIVER int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  return Copy(to, from, bytes, {true, true}, stream);
}
KB_DRIVER int cuMemsetD8Async(uint64_t at, unsigned char value, size_t count, void* stream) {
  return Set(at, value, count, stream);
}

// ---- programs ----
KB_DRIVER int cuModuleLoadData(void** module, const void* image) {
  if (State() != 0) return State();
  int error = 0;
  *module = LoadedModule::Load(image, &error).release();
  return error;
}
KB_DRIVER int cuModuleUnload(void* module) {
  const int result = DrainAll();
  delete static_cast<LoadedModule*>(module);
  return result;
}
KB_DRIVER int cuModuleGetFunction(void** function, void* module, const char* name) {
  if (State() != 0) return State();
  *function = static_cast<LoadedModule*>(module)->Find(name);
  return *function != nullptr ? kSuccess : kNotFound;
}
KB_DRIVER int cuFuncSetAttribute(void* handle, int attribute, int value) {
  if (State() != 0) return State();
  auto* function = static_cast<Function*>(handle);
  if (attribute != 8) return kSuccess;
  if (value < 0 || static_cast<uint64_t>(value) > kMaxDynamicShared) return kInvalidValue;
  function->max_dynamic_shared = static_cast<uint64_t>(value);
  return kSuccess;
}
KB_DRIVER int cuFuncGetAttribute(int* value, int attribute, void* handle) {
  const auto* function = static_cast<const Function*>(handle);
  *value = attribute == 0   ? static_cast<int>(kMaxThreads)
           : attribute == 1 ? static_cast<int>(StaticSharedBytes(*function->module))
           : attribute == 8 ? static_cast<int>(function->max_dynamic_shared)
                            : 0;
  return State();
}
// The offset is where C would put it, which is where CUDA does.
KB_DRIVER int cuFuncGetParamInfo(void* handle, size_t index, size_t* offset, size_t* bytes) {
  const Kernel& kernel = *static_cast<const Function*>(handle)->kernel;
  if (index >= static_cast<size_t>(kernel.args)) return kInvalidValue;
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    const size_t align = kernel.arg_aligns[i];
    *offset = (*offset + align - 1) / align * align;
    if (i < index) *offset += kernel.arg_bytes[i];
  }
  if (bytes != nullptr) *bytes = kernel.arg_bytes[index];
  return State();
}
KB_DRIVER int cuLaunchKernelEx(const void* config, void* function, void** args, void** extra) {
  if (extra != nullptr) return kNotSupported;
  return Launch(*static_cast<const LaunchConfig*>(config), static_cast<Function*>(function), args);
}
KB_DRIVER int cuTensorMapEncodeTiled(void*, int, unsigned, void*, const uint64_t*, const uint64_t*,
                                     const unsigned*, const unsigned*, int, int, int, int) {
  return kNotSupported;
}

// ---- streams and events ----
KB_DRIVER int cuStreamCreate(void** stream, unsigned) {
  if (State() != 0) return State();
  auto* made = new Stream;
  TheDevice().streams.insert(made);
  *stream = made;
  return kSuccess;
}
KB_DRIVER int cuStreamDestroy_v2(void* stream) {
  if (TheDevice().streams.erase(static_cast<Stream*>(stream)) == 0) return kInvalidHandle;
  delete static_cast<Stream*>(stream);
  return State();
}
KB_DRIVER int cuStreamSynchronize(void* stream) { return Drain(StreamOf(stream)); }
KB_DRIVER int cuStreamWaitValue32_v2(void* stream, uint64_t at, unsigned value, unsigned flags) {
  if (State() != 0) return State();
  StreamOf(stream)->WaitValue(reinterpret_cast<const uint32_t*>(at), value, flags);
  return kSuccess;
}
KB_DRIVER int cuEventCreate(void** event, unsigned) {
  if (State() != 0) return State();
  *event = new Event;
  return kSuccess;
}
KB_DRIVER int cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return State();
}
KB_DRIVER int cuEventRecord(void* handle, void* stream) {
  auto* event = static_cast<Event*>(handle);
  event->recorded = false;
  event->stream = StreamOf(stream);
  return Do(stream, [event] {
    event->when = std::chrono::steady_clock::now();
    event->recorded = true;
  });
}
KB_DRIVER int cuEventSynchronize(void* handle) {
  auto* event = static_cast<Event*>(handle);
  return event->stream == nullptr ? State() : Drain(event->stream);
}
KB_DRIVER int cuEventElapsedTime(float* ms, void* start, void* end) {
  if (State() != 0) return State();
  const auto *a = static_cast<Event*>(start), *b = static_cast<Event*>(end);
  if (!a->recorded || !b->recorded) return kNotReady;
  *ms = std::chrono::duration<float, std::milli>(b->when - a->when).count();
  return kSuccess;
}
