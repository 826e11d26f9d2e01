// Stands in for libnvidia-ml.so.1: two GPUs, or what $FAKE_NVML says: none, fail, hang, crash.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

std::string_view Mode() {
  const char* mode = std::getenv("FAKE_NVML");
  return mode == nullptr ? "" : mode;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (Mode() == "hang") sleep(60);
  if (Mode() == "crash") abort();
  return Mode() == "fail" ? 9 : 0;
}

const char* nvmlErrorString(int) { return "Driver Not Loaded"; }

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.1");
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Mode() == "none" ? 0 : 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  static int devices[2];
  *device = &devices[index];
  return index == 1 && Mode() == "lost" ? 15 : 0;
}

int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "Fake H200");
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}

int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
  memory[0] = 140ULL << 30;
  return 0;
}
}
