#include "tdd/driver.h"

#include <dlfcn.h>

namespace kb::cuda {
namespace {

// Looks functions up, and keeps the first name that is missing.
class Lookup {
 public:
  explicit Lookup(void* library) : library_(library) {}

  template <typename FunctionPointer>
  void Find(const char* name, FunctionPointer* function) {
    FindOptional(name, function);
    if (*function == nullptr && missing_.empty()) missing_ = name;
  }
  template <typename FunctionPointer>
  void FindOptional(const char* name, FunctionPointer* function) {
    *function = reinterpret_cast<FunctionPointer>(dlsym(library_, name));
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void FindAll(Lookup* in, Driver* d) {
  in->Find("cuGetErrorString", &d->GetErrorString);
  in->Find("cuGetErrorName", &d->GetErrorName);
  in->Find("cuInit", &d->Init);
  in->Find("cuDriverGetVersion", &d->DriverGetVersion);
  in->Find("cuDeviceGet", &d->DeviceGet);
  in->Find("cuDeviceGetCount", &d->DeviceGetCount);
  in->Find("cuDeviceGetName", &d->DeviceGetName);
  in->Find("cuDeviceGetUuid_v2", &d->DeviceGetUuid);
  in->Find("cuDeviceTotalMem_v2", &d->DeviceTotalMem);
  in->Find("cuDeviceGetAttribute", &d->DeviceGetAttribute);
  in->Find("cuDevicePrimaryCtxRetain", &d->DevicePrimaryCtxRetain);
  in->Find("cuCtxSetCurrent", &d->CtxSetCurrent);
  in->Find("cuCtxSynchronize", &d->CtxSynchronize);
  in->Find("cuCtxSetLimit", &d->CtxSetLimit);
  in->Find("cuCtxGetLimit", &d->CtxGetLimit);
  in->Find("cuCtxResetPersistingL2Cache", &d->CtxResetPersistingL2Cache);
  in->Find("cuModuleLoadData", &d->ModuleLoadData);
  in->Find("cuModuleUnload", &d->ModuleUnload);
  in->Find("cuModuleGetFunction", &d->ModuleGetFunction);
  in->FindOptional("cuModuleGetFunctionCount", &d->ModuleGetFunctionCount);
  in->FindOptional("cuModuleEnumerateFunctions", &d->ModuleEnumerateFunctions);
  in->Find("cuMemGetInfo_v2", &d->MemGetInfo);
  in->Find("cuMemAlloc_v2", &d->MemAlloc);
  in->Find("cuMemFree_v2", &d->MemFree);
  in->Find("cuMemHostAlloc", &d->MemHostAlloc);
  in->Find("cuMemFreeHost", &d->MemFreeHost);
  in->Find("cuMemHostGetDevicePointer_v2", &d->MemHostGetDevicePointer);
  in->Find("cuMemcpyHtoD_v2", &d->MemcpyHtoD);
  in->Find("cuMemcpyDtoH_v2", &d->MemcpyDtoH);
  in->Find("cuMemcpyDtoDAsync_v2", &d->MemcpyDtoDAsync);
  in->Find("cuMemsetD8Async", &d->MemsetD8Async);
  in->Find("cuStreamCreate", &d->StreamCreate);
  in->Find("cuStreamSynchronize", &d->StreamSynchronize);
  in->Find("cuStreamDestroy_v2", &d->StreamDestroy);
  in->FindOptional("cuStreamWaitValue32_v2", &d->StreamWaitValue32);
  in->Find("cuEventCreate", &d->EventCreate);
  in->Find("cuEventRecord", &d->EventRecord);
  in->Find("cuEventSynchronize", &d->EventSynchronize);
  in->Find("cuEventDestroy_v2", &d->EventDestroy);
  in->Find("cuEventElapsedTime", &d->EventElapsedTime);
  in->Find("cuFuncSetAttribute", &d->FuncSetAttribute);
  in->Find("cuFuncGetAttribute", &d->FuncGetAttribute);
  in->FindOptional("cuFuncGetName", &d->FuncGetName);
  in->FindOptional("cuFuncGetParamInfo", &d->FuncGetParamInfo);
  in->Find("cuLaunchKernelEx", &d->LaunchKernelEx);
  in->FindOptional("cuTensorMapEncodeTiled", &d->TensorMapEncodeTiled);
}

}  // namespace

std::string Driver::Text(Result error) const {
  const char* name = nullptr;
  const char* text = nullptr;
  static_cast<void>(GetErrorName(error, &name));
  static_cast<void>(GetErrorString(error, &text));
  if (name == nullptr) return "CUDA error " + std::to_string(error);
  return std::string(name) + (text == nullptr ? "" : std::string(": ") + text);
}

std::unique_ptr<Driver> OpenDriver(const std::string& library, std::string* why) {
  const std::string path = library.empty() ? "libcuda.so.1" : library;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* error = dlerror();
    *why = "no NVIDIA driver: " + std::string(error == nullptr ? path : error) +
           "; run this where an NVIDIA GPU and its driver are installed";
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  Lookup lookup(handle);
  FindAll(&lookup, driver.get());
  if (lookup.missing().empty()) return driver;
  *why = path + " has no " + lookup.missing() + ": install a driver for CUDA 12 or newer";
  return nullptr;
}

}  // namespace kb::cuda
