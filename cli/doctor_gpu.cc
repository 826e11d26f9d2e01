#include <dlfcn.h>

#include <string>

#include "cli/doctor_probes.h"

namespace kb {
namespace {

// What nvml.h declares; written out so that kb builds where no toolkit is installed.
using Device = struct DeviceOfNvml*;
struct Memory {
  unsigned long long total = 0, free = 0, used = 0;  // bytes
};
struct Functions {
  int (*init)() = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*driver_version)(char* text, unsigned size) = nullptr;
  int (*count)(unsigned* count) = nullptr;
  int (*device)(unsigned index, Device* device) = nullptr;
  int (*name)(Device device, char* text, unsigned size) = nullptr;
  int (*capability)(Device device, int* major, int* minor) = nullptr;
  int (*memory)(Device device, Memory* memory) = nullptr;
};

template <typename Function>
bool Load(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool LoadAll(void* library, Functions* f) {
  return Load(library, "nvmlInit_v2", &f->init) &&
         Load(library, "nvmlErrorString", &f->error_string) &&
         Load(library, "nvmlSystemGetDriverVersion", &f->driver_version) &&
         Load(library, "nvmlDeviceGetCount_v2", &f->count) &&
         Load(library, "nvmlDeviceGetHandleByIndex_v2", &f->device) &&
         Load(library, "nvmlDeviceGetName", &f->name) &&
         Load(library, "nvmlDeviceGetCudaComputeCapability", &f->capability) &&
         Load(library, "nvmlDeviceGetMemoryInfo", &f->memory);
}

std::string Describe(const Functions& f, unsigned index) {
  Device device = nullptr;
  char name[96] = "a GPU without a name";
  if (const int error = f.device(index, &device); error != 0) {
    return std::string("a GPU that does not answer: ") + f.error_string(error);
  }
  static_cast<void>(f.name(device, name, sizeof(name)));
  int major = 0, minor = 0;
  Memory memory;
  std::string text = name;
  if (f.capability(device, &major, &minor) == 0) {
    text += " (compute capability " + std::to_string(major) + "." + std::to_string(minor);
    if (f.memory(device, &memory) == 0) text += ", " + std::to_string(memory.total >> 30) + " GiB";
    text += ")";
  }
  return text;
}

}  // namespace

std::string ProbeGpu(const std::string& nvml) {
  void* library = dlopen(nvml.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "-no GPU: the NVIDIA driver's " + nvml + " is not installed";
  Functions f;
  if (!LoadAll(library, &f)) return "!" + nvml + " lacks functions; is the driver very old?";
  if (const int error = f.init(); error != 0) {
    return std::string("!the driver does not start: ") + f.error_string(error);
  }
  unsigned count = 0;
  if (const int error = f.count(&count); error != 0) {
    return std::string("!the driver does not count GPUs: ") + f.error_string(error);
  }
  if (count == 0) return "-the NVIDIA driver is installed, but there is no GPU";
  std::string text = "+";
  for (unsigned i = 0; i < count; ++i) text += (i > 0 ? "; " : "") + Describe(f, i);
  char driver[96] = "unknown";
  static_cast<void>(f.driver_version(driver, sizeof(driver)));
  return text + "; driver " + driver;
}

}  // namespace kb
