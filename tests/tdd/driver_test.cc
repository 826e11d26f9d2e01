// Our own declarations of the driver's API against the toolkit's. Built where there is one.
#include "tdd/driver.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace kb::cuda {
namespace {

TEST(DriverTypes, HaveTheLayoutOfCudaH) {
  static_assert(std::is_same_v<Context, CUcontext> && std::is_same_v<Module, CUmodule>);
  static_assert(std::is_same_v<Function, CUfunction> && std::is_same_v<Stream, CUstream>);
  static_assert(std::is_same_v<Event, CUevent> && std::is_same_v<Device, CUdevice>);
  static_assert(std::is_same_v<DevicePointer, CUdeviceptr>);
  static_assert(sizeof(Result) == sizeof(CUresult) && sizeof(Uuid) == sizeof(CUuuid));
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
  static_assert(alignof(TensorMap) == alignof(CUtensorMap));
  static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
  static_assert(alignof(LaunchAttribute) <= alignof(CUlaunchAttribute));
  static_assert(offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
  static_assert(offsetof(CUlaunchAttributeValue, clusterDim) == 0);
  static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig));
  static_assert(offsetof(LaunchConfig, grid) == offsetof(CUlaunchConfig, gridDimX));
  static_assert(offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
  static_assert(offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
  static_assert(offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
  static_assert(offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
  static_assert(offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
}

TEST(DriverTypes, HaveTheNumbersOfCudaH) {
  struct {
    long long ours, theirs;
  } const cases[] = {
      {kInvalidValue, CUDA_ERROR_INVALID_VALUE},
      {kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY},
      {kNoDevice, CUDA_ERROR_NO_DEVICE},
      {kNotFound, CUDA_ERROR_NOT_FOUND},
      {kNotReady, CUDA_ERROR_NOT_READY},
      {kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS},
      {kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES},
      {kDeinitialized, CUDA_ERROR_DEINITIALIZED},
      {kInvalidContext, CUDA_ERROR_INVALID_CONTEXT},
      {kContextDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED},
      {kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS},
      {kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED},
      {kNotSupported, CUDA_ERROR_NOT_SUPPORTED},
      {kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
      {kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
      {kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
      {kStaticSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
      {kMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
      {kNonPortableClusterAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED},
      {kPersistingL2Limit, CU_LIMIT_PERSISTING_L2_CACHE_SIZE},
      {kStreamNonBlocking, CU_STREAM_NON_BLOCKING},
      {kEventDefault, CU_EVENT_DEFAULT},
      {kWaitGreaterOrEqual, CU_STREAM_WAIT_VALUE_GEQ},
      {kHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP},
      {kAttributeCluster, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
      {1, CU_TENSOR_MAP_SWIZZLE_32B},
      {2, CU_TENSOR_MAP_SWIZZLE_64B},
      {3, CU_TENSOR_MAP_SWIZZLE_128B},
      {2, CU_TENSOR_MAP_L2_PROMOTION_L2_128B},
  };
  for (const auto& c : cases) EXPECT_EQ(c.ours, c.theirs);
}

template <typename Ours, typename Theirs>
constexpr bool kSameShape =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

// Of two pointers to functions: as many parameters, each of the same size. Nothing is linked.
template <typename Ours, typename Theirs>
struct SameCall : std::false_type {};
template <typename... Ours, typename... Theirs>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) struct SameCall<Result (*)(Ours...), CUresult (*)(Theirs...)>
    : std::bool_constant<(kSameShape<Ours, Theirs> && ...)> {
};

TEST(DriverFunctions, TakeWhatCudaHSays) {
  Driver d;
  EXPECT_TRUE((SameCall<decltype(d.Init), decltype(&cuInit)>::value));
  EXPECT_TRUE((SameCall<decltype(d.DeviceGetUuid), decltype(&cuDeviceGetUuid)>::value));
  EXPECT_TRUE((SameCall<decltype(d.DeviceTotalMem), decltype(&cuDeviceTotalMem)>::value));
  EXPECT_TRUE((SameCall<decltype(d.DeviceGetAttribute), decltype(&cuDeviceGetAttribute)>::value));
  EXPECT_TRUE(
      (SameCall<decltype(d.DevicePrimaryCtxRetain), decltype(&cuDevicePrimaryCtxRetain)>::value));
  EXPECT_TRUE((SameCall<decltype(d.CtxSetLimit), decltype(&cuCtxSetLimit)>::value));
  EXPECT_TRUE((SameCall<decltype(d.CtxGetLimit), decltype(&cuCtxGetLimit)>::value));
  EXPECT_TRUE((SameCall<decltype(d.ModuleLoadData), decltype(&cuModuleLoadData)>::value));
  EXPECT_TRUE((SameCall<decltype(d.ModuleGetFunction), decltype(&cuModuleGetFunction)>::value));
  EXPECT_TRUE((SameCall<decltype(d.MemAlloc), decltype(&cuMemAlloc)>::value));
  EXPECT_TRUE((SameCall<decltype(d.MemHostAlloc), decltype(&cuMemHostAlloc)>::value));
  EXPECT_TRUE(
      (SameCall<decltype(d.MemHostGetDevicePointer), decltype(&cuMemHostGetDevicePointer)>::value));
  EXPECT_TRUE((SameCall<decltype(d.MemcpyHtoD), decltype(&cuMemcpyHtoD)>::value));
  EXPECT_TRUE((SameCall<decltype(d.MemcpyDtoH), decltype(&cuMemcpyDtoH)>::value));
  EXPECT_TRUE((SameCall<decltype(d.MemcpyDtoDAsync), decltype(&cuMemcpyDtoDAsync)>::value));
  EXPECT_TRUE((SameCall<decltype(d.MemsetD8Async), decltype(&cuMemsetD8Async)>::value));
  EXPECT_TRUE((SameCall<decltype(d.StreamCreate), decltype(&cuStreamCreate)>::value));
  EXPECT_TRUE((SameCall<decltype(d.StreamWaitValue32), decltype(&cuStreamWaitValue32)>::value));
  EXPECT_TRUE((SameCall<decltype(d.EventRecord), decltype(&cuEventRecord)>::value));
  EXPECT_TRUE((SameCall<decltype(d.EventElapsedTime), decltype(&cuEventElapsedTime)>::value));
  EXPECT_TRUE((SameCall<decltype(d.FuncSetAttribute), decltype(&cuFuncSetAttribute)>::value));
  EXPECT_TRUE((SameCall<decltype(d.FuncGetAttribute), decltype(&cuFuncGetAttribute)>::value));
  EXPECT_TRUE((SameCall<decltype(d.LaunchKernelEx), decltype(&cuLaunchKernelEx)>::value));
  EXPECT_TRUE(
      (SameCall<decltype(d.TensorMapEncodeTiled), decltype(&cuTensorMapEncodeTiled)>::value));
}

}  // namespace
}  // namespace kb::cuda
