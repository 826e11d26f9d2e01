// Stands in for libcuda.so.1 and libnvidia-ml.so.1 where the worker itself is tested. A "cubin" is
// the text "FAKE" and names of the kernels below, one a line. Memory is the host's. Work is done
// when it is queued, or, on a stream that is held, when the stream is waited for; how long it
// seems to take is kept in `busy_until`. $FAKE_CUDA: none, fail.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tdd/driver.h"

namespace {

using kb::cuda::Context;
using kb::cuda::Device;
using kb::cuda::DevicePointer;
using kb::cuda::Event;
using kb::cuda::Function;
using kb::cuda::kCapabilityMajor;
using kb::cuda::kIllegalAddress;
using kb::cuda::kInvalidValue;
using kb::cuda::kL2CacheSize;
using kb::cuda::kLaunchFailed;
using kb::cuda::kMisalignedAddress;
using kb::cuda::kMultiprocessorCount;
using kb::cuda::kNoDevice;
using kb::cuda::kNotFound;
using kb::cuda::kNotSupported;
using kb::cuda::kOutOfMemory;
using kb::cuda::kPersistingL2Limit;
using kb::cuda::LaunchConfig;
using kb::cuda::Module;
using kb::cuda::Result;
using kb::cuda::Stream;
using kb::cuda::Uuid;
using Clock = std::chrono::steady_clock;

constexpr size_t kLongMemset = 1 << 20;  // the flush of L2: takes its time

struct FakeStream {
  std::vector<std::function<void()>> waiting;  // held
  const volatile uint32_t* flag = nullptr;
  Clock::time_point busy_until;
};

struct FakeEvent {
  Clock::time_point time;
};

Result sticky = 0;
size_t persisting_l2 = 0;
std::set<FakeStream*> streams;

struct Arguments {
  void** all;
  template <typename T>
  T Get(int i) const {
    T value;
    std::memcpy(&value, all[i], sizeof(value));
    return value;
  }
};

using Kernel = void (*)(const Arguments& a, FakeStream* stream);

float* X(const Arguments& a) { return a.Get<float*>(0); }
float* Y(const Arguments& a) { return a.Get<float*>(1); }
int N(const Arguments& a) { return a.Get<int>(2); }

void AddOne(const Arguments& a, FakeStream*) {
  for (int i = 0; i < N(a); ++i) Y(a)[i] = X(a)[i] + 1;
}

void Busy(FakeStream* stream, int microseconds) {
  stream->busy_until =
      std::max(stream->busy_until, Clock::now()) + std::chrono::microseconds(microseconds);
}

struct NamedKernel {
  const char* name;
  int parameters;
  Kernel run;
};

// All take x, y, n; "none" takes nothing, "scratch" a workspace besides.
const NamedKernel kKernels[] = {
    {"add_one", 3, AddOne},
    {"slow", 3,
     [](const Arguments& a, FakeStream* stream) {
       AddOne(a, stream);
       Busy(stream, 300);
     }},
    {"lazy", 3,
     [](const Arguments& a, FakeStream* stream) {  // works where the last run has left nothing
       if (std::isnan(Y(a)[N(a) - 1])) AddOne(a, stream);
     }},
    {"none", 0, [](const Arguments&, FakeStream*) {}},
    {"writes_nothing", 3, [](const Arguments&, FakeStream*) {}},
    {"past_end", 3,
     [](const Arguments& a, FakeStream* stream) {
       AddOne(a, stream);
       Y(a)[N(a) + 2] = 0;
     }},
    {"before_start", 3,
     [](const Arguments& a, FakeStream* stream) {
       AddOne(a, stream);
       Y(a)[-1] = 0;
     }},
    {"past_input", 3,
     [](const Arguments& a, FakeStream* stream) {
       AddOne(a, stream);
       X(a)[N(a)] = 0;
     }},
    {"mutates", 3,
     [](const Arguments& a, FakeStream* stream) {
       AddOne(a, stream);
       X(a)[1] = -7;
     }},
    {"illegal", 3, [](const Arguments&, FakeStream*) { sticky = kIllegalAddress; }},
    {"trap", 3, [](const Arguments&, FakeStream*) { sticky = kLaunchFailed; }},
    {"misaligned", 3, [](const Arguments&, FakeStream*) { sticky = kMisalignedAddress; }},
    {"hang", 3,
     [](const Arguments&, FakeStream*) {
       while (true) sleep(1);
     }},
    {"crash", 3,
     [](const Arguments&, FakeStream*) {
       std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit with 1
       raise(SIGSEGV);
     }},
    {"counts", 3,
     [](const Arguments& a, FakeStream*) {
       static float calls = 0;
       for (int i = 0; i < N(a); ++i) Y(a)[i] = calls;
       ++calls;
     }},
    {"scratch", 4,
     [](const Arguments& a, FakeStream*) {  // y = the first byte of the workspace
       for (int i = 0; i < N(a); ++i) Y(a)[i] = a.Get<const unsigned char*>(3)[0];
     }},
};

struct FakeModule {
  std::set<std::string> names;
};

FakeStream* Of(Stream stream) { return reinterpret_cast<FakeStream*>(stream); }

Result Put(Stream stream, std::function<void()> work) {
  FakeStream* s = Of(stream);
  if (s->flag != nullptr) {
    s->waiting.push_back(std::move(work));
  } else {
    work();
  }
  return sticky;
}

// 999 where a real GPU would wait for ever.
Result Finish(FakeStream* s) {
  if (s->flag != nullptr) {
    if (*s->flag == 0) return 999;
    s->flag = nullptr;
    std::vector<std::function<void()>> work;
    work.swap(s->waiting);
    for (const auto& each : work) each();
  }
  while (Clock::now() < s->busy_until) std::this_thread::yield();
  return sticky;
}

Result FinishAll() {
  for (FakeStream* s : streams) {
    if (const Result result = Finish(s); result != 0) return result;
  }
  return sticky;
}

bool Is(const char* mode) {
  const char* value = std::getenv("FAKE_CUDA");
  return value != nullptr && std::string_view(value) == mode;
}

template <typename T>
Result Set(T* to, T value) {
  *to = value;
  return sticky;
}

}  // namespace

extern "C" {

Result cuGetErrorName(Result error, const char** name) {
  *name = error == 1     ? "CUDA_ERROR_INVALID_VALUE"
          : error == 200 ? "CUDA_ERROR_INVALID_IMAGE"
          : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == 709 ? "CUDA_ERROR_CONTEXT_IS_DESTROYED"
          : error == 716 ? "CUDA_ERROR_MISALIGNED_ADDRESS"
          : error == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                         : nullptr;
  return *name == nullptr ? kInvalidValue : 0;
}
Result cuGetErrorString(Result, const char** text) {
  *text = "as the fake says";
  return 0;
}
Result cuInit(unsigned) { return Is("fail") ? 999 : Is("none") ? kNoDevice : 0; }
Result cuDriverGetVersion(int* version) { return Set(version, 13010); }
Result cuDeviceGet(Device* device, int) { return Set(device, 0); }
Result cuDeviceGetCount(int* count) { return Set(count, 1); }
Result cuDeviceGetName(char* name, int size, Device) {
  std::strncpy(name, "Small Fake", static_cast<size_t>(size));
  return 0;
}
Result cuDeviceGetUuid_v2(Uuid* uuid, Device) {
  for (size_t i = 0; i < 16; ++i) uuid->bytes[i] = static_cast<char>(i * 16 + i);
  return 0;
}
Result cuDeviceTotalMem_v2(size_t* bytes, Device) { return Set(bytes, size_t{1} << 30); }
Result cuDeviceGetAttribute(int* value, int attribute, Device) {
  const std::map<int, int> values = {
      {kMultiprocessorCount, 2}, {kL2CacheSize, 1 << 20}, {kCapabilityMajor, 9}};
  const auto found = values.find(attribute);
  return Set(value, found == values.end() ? 0 : found->second);
}
Result cuDevicePrimaryCtxRetain(Context* context, Device) { return Set(context, Context()); }
Result cuCtxSetCurrent(Context) { return 0; }
Result cuCtxSynchronize() { return FinishAll(); }
Result cuCtxSetLimit(int limit, size_t value) {
  if (limit != kPersistingL2Limit) return kNotSupported;
  persisting_l2 = value;
  return sticky;
}
Result cuCtxGetLimit(size_t* value, int) { return Set(value, persisting_l2); }
Result cuCtxResetPersistingL2Cache() { return kNotSupported; }

Result cuModuleLoadData(Module* module, const void* image) {
  std::string_view text(static_cast<const char*>(image));
  if (!text.starts_with("FAKE\n")) return 200;
  auto* made = new FakeModule;
  for (text.remove_prefix(5); !text.empty();) {
    const size_t end = text.find('\n');
    made->names.emplace(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return Set(module, reinterpret_cast<Module>(made));
}
Result cuModuleUnload(Module module) {
  delete reinterpret_cast<FakeModule*>(module);
  return sticky;
}
Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  if (!reinterpret_cast<FakeModule*>(module)->names.contains(name)) return kNotFound;
  for (const NamedKernel& kernel : kKernels) {
    if (std::string_view(kernel.name) == name) {
      return Set(function, reinterpret_cast<Function>(const_cast<NamedKernel*>(&kernel)));
    }
  }
  return kNotFound;
}
Result cuModuleGetFunctionCount(unsigned* count, Module module) {
  return Set(count, static_cast<unsigned>(reinterpret_cast<FakeModule*>(module)->names.size()));
}
Result cuModuleEnumerateFunctions(Function* functions, unsigned count, Module module) {
  for (const std::string& name : reinterpret_cast<FakeModule*>(module)->names) {
    if (count-- == 0) break;
    static_cast<void>(cuModuleGetFunction(functions++, module, name.c_str()));
  }
  return 0;
}
Result cuFuncGetName(const char** name, Function function) {
  return Set(name, static_cast<const char*>(reinterpret_cast<NamedKernel*>(function)->name));
}
Result cuFuncGetParamInfo(Function function, size_t index, size_t* offset, size_t* bytes) {
  if (static_cast<int>(index) >= reinterpret_cast<NamedKernel*>(function)->parameters) {
    return kInvalidValue;
  }
  *offset = 8 * index;
  *bytes = index == 2 ? 4 : 8;
  return 0;
}
Result cuFuncSetAttribute(Function, int, int value) {
  return value > 227 << 10 ? kInvalidValue : 0;
}
Result cuFuncGetAttribute(int* value, int, Function) { return Set(value, 0); }

Result cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = *total = size_t{1} << 25;
  return 0;
}
Result cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
  if (bytes > size_t{1} << 30) return kOutOfMemory;
  return Set(pointer,
             reinterpret_cast<DevicePointer>(std::aligned_alloc(512, (bytes + 511) / 512 * 512)));
}
Result cuMemFree_v2(DevicePointer pointer) {
  std::free(reinterpret_cast<void*>(pointer));
  return sticky;
}
Result cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  return Set(pointer, std::malloc(bytes));
}
Result cuMemFreeHost(void* pointer) {
  std::free(pointer);
  return 0;
}
Result cuMemHostGetDevicePointer_v2(DevicePointer* pointer, void* host, unsigned) {
  return Set(pointer, reinterpret_cast<DevicePointer>(host));
}
Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  if (const Result result = FinishAll(); result != 0) return result;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
Result cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  if (const Result result = FinishAll(); result != 0) return result;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, Stream stream) {
  return Put(stream, [=] {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  });
}
Result cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, Stream stream) {
  return Put(stream, [=] {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    if (bytes >= kLongMemset) Busy(Of(stream), 400);
  });
}
Result cuStreamCreate(Stream* stream, unsigned) {
  auto* made = new FakeStream;
  streams.insert(made);
  return Set(stream, reinterpret_cast<Stream>(made));
}
Result cuStreamSynchronize(Stream stream) { return Finish(Of(stream)); }
Result cuStreamDestroy_v2(Stream stream) {
  streams.erase(Of(stream));
  delete Of(stream);
  return 0;
}
Result cuStreamWaitValue32_v2(Stream stream, DevicePointer address, uint32_t, unsigned) {
  const auto* flag = reinterpret_cast<const volatile uint32_t*>(address);
  if (*flag == 0) Of(stream)->flag = flag;
  return 0;
}
Result cuEventCreate(Event* event, unsigned) {
  return Set(event, reinterpret_cast<Event>(new FakeEvent));
}
Result cuEventRecord(Event event, Stream stream) {
  return Put(stream, [=] {
    reinterpret_cast<FakeEvent*>(event)->time = std::max(Of(stream)->busy_until, Clock::now());
  });
}
Result cuEventSynchronize(Event) { return FinishAll(); }
Result cuEventDestroy_v2(Event event) {
  delete reinterpret_cast<FakeEvent*>(event);
  return 0;
}
Result cuEventElapsedTime(float* milliseconds, Event start, Event end) {
  const auto passed =
      reinterpret_cast<FakeEvent*>(end)->time - reinterpret_cast<FakeEvent*>(start)->time;
  return Set(milliseconds, std::chrono::duration<float, std::milli>(passed).count());
}
Result cuLaunchKernelEx(const LaunchConfig* config, Function function, void** arguments, void**) {
  if (sticky != 0) return sticky;
  if (config->block[0] > 1024) return kInvalidValue;
  const auto* kernel = reinterpret_cast<NamedKernel*>(function);
  std::vector<uint64_t> copy(static_cast<size_t>(kernel->parameters));
  for (size_t i = 0; i < copy.size(); ++i) std::memcpy(&copy[i], arguments[i], 8);
  return Put(config->stream, [copy, kernel, stream = Of(config->stream)]() mutable {
    std::vector<void*> pointers;
    for (uint64_t& each : copy) pointers.push_back(&each);
    kernel->run({pointers.data()}, stream);
  });
}

// For host candidates: work of that length on the stream.
void FakeBusy(Stream stream, int microseconds) { Busy(Of(stream), microseconds); }
// And as cudaDeviceReset leaves it.
void FakeReset(int result) { sticky = result; }

// ---- NVML: 100 W, counted every 100 ms ----
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  *device = &sticky;
  return std::string_view(uuid).starts_with("GPU-00112233-4455-6677-8899-aabbccddeeff") ? 0 : 6;
}
int nvmlSystemGetDriverVersion(char* text, unsigned) {
  std::strcpy(text, "590.1");
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 3201;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  static int asked = 0;
  *bits = ++asked % 2 == 0 ? 0x41 : 0x1;  // idle always; heat every second time
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
          .count();
  *millijoules = static_cast<unsigned long long>(now / 100 * 100) * 100;
  return 0;
}
}
