// A host candidate for the worker's tests: y = x + 1 over floats, in the manner that its second
// axis says.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tdd/kb_candidate.h"

namespace {

enum Manner {
  kRight,
  kExits,
  kFails,
  kCrashes,
  kForks,
  kHides,
  kCounts,
  kWrites,
  kForges,
  kResets,
  kLosesContext,
  kDeinitializes,
  kPersists
};

// The stand-in driver, as a candidate finds libcuda.so.1.
void* Driver() { return dlopen(std::getenv("FAKE_DRIVER"), RTLD_NOW | RTLD_NOLOAD); }

void Busy(CUstream_st* stream, int microseconds) {
  using Function = void (*)(CUstream_st*, int);
  reinterpret_cast<Function>(dlsym(Driver(), "FakeBusy"))(stream, microseconds);
}

CUstream_st* OwnStream() {
  using Function = int (*)(CUstream_st**, unsigned);
  static CUstream_st* stream = nullptr;
  if (stream == nullptr) {
    reinterpret_cast<Function>(dlsym(Driver(), "cuStreamCreate"))(&stream, 1);
  }
  return stream;
}

int Reset(int result) {
  reinterpret_cast<void (*)(int)>(dlsym(Driver(), "FakeReset"))(result);
  return 0;
}

int SetLimit(int limit, size_t value) {
  using Function = int (*)(int, size_t);
  return reinterpret_cast<Function>(dlsym(Driver(), "cuCtxSetLimit"))(limit, value);
}

int calls = 0;

}  // namespace

extern "C" int kb_run(const kb_args* args, CUstream_st* stream) {
  const auto* x = static_cast<const float*>(args->pointers[0]);
  auto* y = static_cast<float*>(args->pointers[1]);
  const int64_t n = args->axis_values[0];
  if (args->version != 1 || args->buffers != 2 || args->bytes[1] != 4 * n) return 77;
  if (args->scalars != 1 || args->scalar_values[0] != 0.5) return 78;
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 1;
  switch (args->axis_values[1]) {
    case kExits:
      _exit(0);
    case kFails:
      return 3;
    case kCrashes:
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would exit with 1
      raise(SIGSEGV);
      return 0;
    case kForks:
      for (int i = 0; i < 100000; ++i) {
        if (fork() == 0) pause();
      }
      return 0;
    case kHides:
      Busy(OwnStream(), 300);
      return 0;
    case kCounts:
      y[0] = static_cast<float>(calls++);
      return 0;
    case kWrites:
      return std::ofstream(std::getenv("FAKE_OUTSIDE")) << "x" ? 5 : 0;
    case kResets:
      return Reset(709);
    case kLosesContext:
      return Reset(201);
    case kDeinitializes:
      return Reset(4);
    case kPersists:
      return SetLimit(6, 1 << 20);
    case kForges: {
      const char line[] = "{\"verdict\":{\"status\":\"PASSED\"}}\n";
      for (int fd = 3; fd < 100; ++fd) send(fd, line, std::strlen(line), MSG_NOSIGNAL);
      pause();
      return 0;
    }
    default:
      Busy(stream, 200);
      return 0;
  }
}
