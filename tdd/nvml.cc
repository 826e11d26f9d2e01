#include "tdd/nvml.h"

#include <dlfcn.h>

#include <array>
#include <type_traits>
#include <utility>

namespace kb {
namespace {

// What nvml.h declares; written out so that kb builds where no toolkit is installed.
using Device = struct DeviceOfNvml*;
constexpr int kSuccess = 0;
constexpr int kInsufficientSize = 7;
constexpr int kSmClock = 1, kMemoryClock = 2;
constexpr int kGpuSensor = 0;

struct Reason {
  unsigned long long bit;
  const char* name;
  bool held_down;
};
// nvmlClocksEventReason... of nvml.h
constexpr Reason kReasons[] = {
    {0x1, "idle", false},
    {0x2, "application clocks", false},
    {0x4, "power cap", true},
    {0x8, "hardware slowdown", true},
    {0x10, "sync boost", false},
    {0x20, "heat (software)", true},
    {0x40, "heat (hardware)", true},
    {0x80, "power brake", true},
    {0x100, "display clocks", false},
};

}  // namespace

struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*by_uuid)(const char* uuid, Device* device) = nullptr;
  int (*driver)(char* text, unsigned size) = nullptr;
  int (*clock)(Device device, int type, unsigned* mhz) = nullptr;
  int (*temperature)(Device device, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Device device, unsigned* milliwatts) = nullptr;
  int (*reasons)(Device device, unsigned long long* bits) = nullptr;
  int (*processes)(Device device, unsigned* count, void* table) = nullptr;
  int (*energy)(Device device, unsigned long long* millijoules) = nullptr;
  Device device = nullptr;
};

Nvml::Nvml(const std::string& gpu_uuid, const std::string& library)
    : f_(std::make_unique<Functions>()) {
  const std::string path = library.empty() ? "libnvidia-ml.so.1" : library;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return;
  const auto find = [handle](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(handle, name));
  };
  find("nvmlInit_v2", &f_->init);
  find("nvmlDeviceGetHandleByUUID", &f_->by_uuid);
  find("nvmlSystemGetDriverVersion", &f_->driver);
  find("nvmlDeviceGetClockInfo", &f_->clock);
  find("nvmlDeviceGetTemperature", &f_->temperature);
  find("nvmlDeviceGetPowerUsage", &f_->power);
  find("nvmlDeviceGetCurrentClocksThrottleReasons", &f_->reasons);
  find("nvmlDeviceGetComputeRunningProcesses_v3", &f_->processes);
  find("nvmlDeviceGetTotalEnergyConsumption", &f_->energy);
  if (f_->init == nullptr || f_->init() != kSuccess || f_->by_uuid == nullptr ||
      f_->by_uuid(gpu_uuid.c_str(), &f_->device) != kSuccess) {
    f_->device = nullptr;
  }
}

Nvml::~Nvml() = default;

bool Nvml::available() const { return f_->device != nullptr; }

std::string Nvml::driver_version() const {
  std::array<char, 96> text = {};
  if (!available() || f_->driver == nullptr) return "";
  if (f_->driver(text.data(), static_cast<unsigned>(text.size()) - 1) != kSuccess) return "";
  return text.data();
}

Value Nvml::Conditions() const {
  Value value{Value::Map{}};
  if (!available()) return value;
  unsigned number = 0;
  const auto add = [&](const char* name, int result, double scale) {
    if (result == kSuccess) value.Set(name, scale * number);
  };
  if (f_->clock != nullptr) {
    add("sm_mhz", f_->clock(f_->device, kSmClock, &number), 1);
    add("memory_mhz", f_->clock(f_->device, kMemoryClock, &number), 1);
  }
  if (f_->temperature != nullptr) {
    add("temperature_c", f_->temperature(f_->device, kGpuSensor, &number), 1);
  }
  if (f_->power != nullptr) add("power_w", f_->power(f_->device, &number), 1e-3);
  unsigned long long bits = 0;
  if (f_->reasons != nullptr && f_->reasons(f_->device, &bits) == kSuccess) {
    Value names{Value::List{}};
    for (const Reason& reason : kReasons) {
      if ((bits & reason.bit) != 0) names.Add(reason.name);
    }
    value.Set("throttle_reasons", std::move(names));
  }
  unsigned count = 0;
  if (f_->processes != nullptr) {
    const int result = f_->processes(f_->device, &count, nullptr);
    if (result == kSuccess || result == kInsufficientSize) {
      value.Set("processes", static_cast<int64_t>(count));
    }
  }
  return value;
}

bool Nvml::Throttled() const {
  unsigned long long bits = 0;
  if (!available() || f_->reasons == nullptr || f_->reasons(f_->device, &bits) != kSuccess) {
    return false;
  }
  for (const Reason& reason : kReasons) {
    if (reason.held_down && (bits & reason.bit) != 0) return true;
  }
  return false;
}

std::optional<int64_t> Nvml::EnergyMillijoules() const {
  unsigned long long millijoules = 0;
  if (!available() || f_->energy == nullptr || f_->energy(f_->device, &millijoules) != kSuccess) {
    return std::nullopt;
  }
  return static_cast<int64_t>(millijoules);
}

}  // namespace kb
