#include "tests/tdd/emulator/device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tests/tdd/emulator/grid.h"

namespace kb_emulator {
namespace {

constexpr double kWaitLimit_s = 10;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = getenv(name);
  return text == nullptr ? otherwise : strtoull(text, nullptr, 10);
}

int CheckLimits(const Function& function, const LaunchConfig& c) {
  uint64_t threads = uint64_t{c.block[0]} * c.block[1] * c.block[2];
  bool grid = c.grid[0] > 0 && c.grid[1] > 0 && c.grid[2] > 0 && c.grid[0] <= 0x7fffffffu &&
              c.grid[1] <= 65535 && c.grid[2] <= 65535;
  if (!grid || threads == 0 || threads > kMaxThreads || c.block[2] > 64) return kInvalidValue;
  if (c.shared_bytes > function.max_dynamic_shared) return kInvalidValue;
  if (uint64_t{c.shared_bytes} + StaticSharedBytes(*function.module) > kMaxDynamicShared) {
    return kInvalidValue;
  }
  return kSuccess;
}

// Parameters are copied when a kernel is launched, not when it runs.
std::vector<std::vector<char>> CopyArgs(const Kernel& kernel, void** args) {
  std::vector<std::vector<char>> copies;
  for (int i = 0; i < kernel.args; ++i) {
    const char* from = static_cast<const char*>(args[i]);
    copies.emplace_back(from, from + kernel.arg_bytes[i]);
  }
  return copies;
}

void Execute(const Function& function, const LaunchConfig& c,
             std::vector<std::vector<char>>* copies) {
  std::vector<void*> args;
  for (std::vector<char>& copy : *copies) args.push_back(copy.data());
  Device& device = TheDevice();
  Grid grid;
  grid.module = function.module;
  grid.kernel = function.kernel;
  grid.args = args.data();
  grid.blocks = {c.grid[0], c.grid[1], c.grid[2]};
  grid.threads = {c.block[0], c.block[1], c.block[2]};
  grid.dynamic_shared = c.shared_bytes;
  grid.seed = FromEnvironment("KB_EMULATOR_SEED", 1) * 1000003 + device.launches++;
  const char* order = getenv("KB_EMULATOR_ORDER");
  grid.shuffled = order == nullptr || strcmp(order, "forward") != 0;
  grid.limit_s = static_cast<double>(FromEnvironment("KB_EMULATOR_LIMIT_S", 60));
  Outcome outcome = RunGrid(grid);
  if (outcome.fault == 0 && !device.memory.Intact()) {
    outcome = {kIllegalAddress, "a write just past the end of an allocation"};
  }
  if (outcome.fault == 0) return;
  device.fault = outcome.fault;
  fprintf(stderr, "emulator: %s\n", outcome.why.c_str());
}

}  // namespace

Device& TheDevice() {
  static auto* device = new Device;  // outlives handlers that run at the process's end
  return *device;
}

Stream* StreamOf(void* handle) {
  auto value = reinterpret_cast<uintptr_t>(handle);
  return value <= 2 ? &TheDevice().default_stream : static_cast<Stream*>(handle);
}

int State() { return TheDevice().initialized ? TheDevice().fault : kNotInitialized; }

int Drain(Stream* stream) {
  if (!stream->Drain(kWaitLimit_s) && TheDevice().fault == 0) TheDevice().fault = kLaunchTimeout;
  return State();
}

int DrainAll() {
  for (Stream* stream : TheDevice().streams) static_cast<void>(Drain(stream));
  return Drain(&TheDevice().default_stream);
}

int Do(void* stream, Stream::Work work) {
  if (State() != 0) return State();
  StreamOf(stream)->Do([work = std::move(work)] {
    if (TheDevice().fault == 0) work();
  });
  return kSuccess;
}

int Copy(uint64_t to, uint64_t from, size_t bytes, Sides sides, void* stream) {
  if (State() != 0) return State();
  const DeviceMemory& memory = TheDevice().memory;
  if (bytes == 0) return kSuccess;
  if ((sides.to_device && !memory.Holds(to, bytes)) ||
      (sides.from_device && !memory.Holds(from, bytes))) {
    return kInvalidValue;
  }
  return Do(stream, [=] {
    memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  });
}

// The copy that a host waits for.
int CopyNow(uint64_t to, uint64_t from, size_t bytes, Sides sides) {
  int result = DrainAll();
  if (result == 0) result = Copy(to, from, bytes, sides, nullptr);
  return result;
}

int Set(uint64_t at, unsigned char value, size_t bytes, void* stream) {
  if (State() != 0) return State();
  if (bytes != 0 && !TheDevice().memory.Holds(at, bytes)) return kInvalidValue;
  return Do(stream, [=] { memset(reinterpret_cast<void*>(at), value, bytes); });
}

int Launch(const LaunchConfig& config, Function* function, void** args) {
  if (State() != 0) return State();
  if (function == nullptr) return kInvalidHandle;
  if (config.attribute_count > 0) return kNotSupported;
  if (args == nullptr && function->kernel->args > 0) return kInvalidValue;
  int result = CheckLimits(*function, config);
  if (result != 0) return result;
  auto copies = std::make_shared<std::vector<std::vector<char>>>(CopyArgs(*function->kernel, args));
  Function copy = *function;
  return Do(config.stream, [copy, config, copies] { Execute(copy, config, copies.get()); });
}

}  // namespace kb_emulator
