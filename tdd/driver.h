// The part of the CUDA driver API that the worker calls, with its types written out, so that kb is
// built where no toolkit is installed. libcuda.so.1 (or a stand-in for it) is opened with dlopen.
// Names and layouts are those of cuda.h, CUDA 12.0 and later; a test compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// Opaque, as cuda.h names them.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;

namespace kb::cuda {

using Result = int;  // 0: success
using Device = int;
using DevicePointer = unsigned long long;
using Context = CUctx_st*;
using Module = CUmod_st*;
using Function = CUfunc_st*;
using Stream = CUstream_st*;
using Event = CUevent_st*;

struct Uuid {
  char bytes[16] = {};
};

inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kDeinitialized = 4;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchOutOfResources = 701;
inline constexpr Result kContextDestroyed = 709;
inline constexpr Result kMisalignedAddress = 716;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kNotSupported = 801;

// CUdevice_attribute
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kL2CacheSize = 38;
inline constexpr int kCapabilityMajor = 75;
inline constexpr int kCapabilityMinor = 76;
// CUfunction_attribute
inline constexpr int kStaticSharedBytes = 1;
inline constexpr int kMaxDynamicSharedBytes = 8;
inline constexpr int kNonPortableClusterAllowed = 14;
// CUlimit
inline constexpr int kPersistingL2Limit = 6;
// Flags
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDefault = 0;
inline constexpr unsigned kWaitGreaterOrEqual = 0;
inline constexpr unsigned kHostAllocDeviceMap = 2;

// CUlaunchAttribute, with the value that we set: the cluster's blocks in x, y, z.
inline constexpr int kAttributeCluster = 4;
struct LaunchAttribute {
  int id = 0;
  char padding[4] = {};
  union Value {
    char bytes[64];
    unsigned cluster[3];
  } value = {};
};

// CUlaunchConfig
struct LaunchConfig {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;  // dynamic
  Stream stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// CUtensorMap
struct alignas(128) TensorMap {
  uint64_t opaque[16] = {};
};

// One member a function, in the order of cuda.h; driver.cc has the symbols that are looked up. "?":
// may be missing from the library, and is then null.
struct Driver {
  Result (*GetErrorString)(Result error, const char** text) = nullptr;     // cuGetErrorString
  Result (*GetErrorName)(Result error, const char** name) = nullptr;       // cuGetErrorName
  Result (*Init)(unsigned flags) = nullptr;                                // cuInit
  Result (*DriverGetVersion)(int* version) = nullptr;                      // cuDriverGetVersion
  Result (*DeviceGet)(Device* device, int ordinal) = nullptr;              // cuDeviceGet
  Result (*DeviceGetCount)(int* count) = nullptr;                          // cuDeviceGetCount
  Result (*DeviceGetName)(char* name, int size, Device device) = nullptr;  // cuDeviceGetName
  Result (*DeviceGetUuid)(Uuid* uuid, Device device) = nullptr;            // ..._v2
  Result (*DeviceTotalMem)(size_t* bytes, Device device) = nullptr;        // ..._v2
  Result (*DeviceGetAttribute)(int* value, int attribute, Device device) = nullptr;
  Result (*DevicePrimaryCtxRetain)(Context* context, Device device) = nullptr;
  Result (*CtxSetCurrent)(Context context) = nullptr;
  Result (*CtxSynchronize)() = nullptr;
  Result (*CtxSetLimit)(int limit, size_t value) = nullptr;
  Result (*CtxGetLimit)(size_t* value, int limit) = nullptr;
  Result (*CtxResetPersistingL2Cache)() = nullptr;
  Result (*ModuleLoadData)(Module* module, const void* image) = nullptr;  // a cubin
  Result (*ModuleUnload)(Module module) = nullptr;
  Result (*ModuleGetFunction)(Function* function, Module module, const char* name) = nullptr;
  Result (*ModuleGetFunctionCount)(unsigned* count, Module module) = nullptr;  // ?
  Result (*ModuleEnumerateFunctions)(Function* functions, unsigned count,
                                     Module module) = nullptr;         // ?
  Result (*MemGetInfo)(size_t* free, size_t* total) = nullptr;         // ..._v2
  Result (*MemAlloc)(DevicePointer* pointer, size_t bytes) = nullptr;  // ..._v2
  Result (*MemFree)(DevicePointer pointer) = nullptr;                  // ..._v2
  Result (*MemHostAlloc)(void** pointer, size_t bytes, unsigned flags) = nullptr;
  Result (*MemFreeHost)(void* pointer) = nullptr;
  Result (*MemHostGetDevicePointer)(DevicePointer* pointer, void* host,
                                    unsigned flags) = nullptr;                       // ..._v2
  Result (*MemcpyHtoD)(DevicePointer to, const void* from, size_t bytes) = nullptr;  // ..._v2
  Result (*MemcpyDtoH)(void* to, DevicePointer from, size_t bytes) = nullptr;        // ..._v2
  Result (*MemcpyDtoDAsync)(DevicePointer to, DevicePointer from, size_t bytes,
                            Stream stream) = nullptr;  // ..._v2
  Result (*MemsetD8Async)(DevicePointer to, unsigned char value, size_t bytes,
                          Stream stream) = nullptr;
  Result (*StreamCreate)(Stream* stream, unsigned flags) = nullptr;
  Result (*StreamSynchronize)(Stream stream) = nullptr;
  Result (*StreamDestroy)(Stream stream) = nullptr;  // ..._v2
  // cuStreamWaitValue32_v2. A stand-in that runs work at once answers kNotSupported: then streams
  // are not held before timed calls.
  Result (*StreamWaitValue32)(Stream stream, DevicePointer address, uint32_t value,
                              unsigned flags) = nullptr;  // ?
  Result (*EventCreate)(Event* event, unsigned flags) = nullptr;
  Result (*EventRecord)(Event event, Stream stream) = nullptr;
  Result (*EventSynchronize)(Event event) = nullptr;
  Result (*EventDestroy)(Event event) = nullptr;  // ..._v2
  Result (*EventElapsedTime)(float* milliseconds, Event start, Event end) = nullptr;
  Result (*FuncSetAttribute)(Function function, int attribute, int value) = nullptr;
  Result (*FuncGetAttribute)(int* value, int attribute, Function function) = nullptr;
  Result (*FuncGetName)(const char** name, Function function) = nullptr;  // ?
  Result (*FuncGetParamInfo)(Function function, size_t index, size_t* offset,
                             size_t* bytes) = nullptr;  // cuFuncGetParamInfo?
  Result (*LaunchKernelEx)(const LaunchConfig* config, Function function, void** arguments,
                           void** extra) = nullptr;
  Result (*TensorMapEncodeTiled)(TensorMap* map, int data_type, uint32_t rank, void* address,
                                 const uint64_t* dims, const uint64_t* strides, const uint32_t* box,
                                 const uint32_t* element_strides, int interleave, int swizzle,
                                 int l2_promotion, int fill) = nullptr;  // ?

  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered".
  [[nodiscard]] std::string Text(Result error) const;
};

// `library`: "" is libcuda.so.1, by the loader's path. Null if it is not there or lacks a function;
// `*why` then says so and how to mend it. Not initialised: Init is the caller's first call. It
// stays loaded.
[[nodiscard]] std::unique_ptr<Driver> OpenDriver(const std::string& library, std::string* why);

}  // namespace kb::cuda
