// One launch of one kernel on the stand-in driver, in a process of its own: a fault is an answer.
#pragma once

#include <string>
#include <vector>

namespace kb {

struct LaunchOnce {
  std::string driver;  // path of fake_cuda.so
  std::string cubin, kernel;
  unsigned grid = 1, block = 1, shared_bytes = 0;
  std::vector<std::string> buffers;  // the bytes of each; device memory while it runs
  struct Arg {
    int buffer = -1;    // its pointer, or
    std::string bytes;  // these
  };
  std::vector<Arg> args;
  std::vector<std::string> environment;  // "NAME=value", added
};

struct LaunchedOnce {
  int result = -1;    // a CUresult: of what failed first, or 0
  std::string error;  // "CUDA_ERROR_ILLEGAL_ADDRESS: ..."; "died: signal 11"
  std::vector<std::string> buffers;
};

[[nodiscard]] LaunchedOnce RunOnce(const LaunchOnce& launch);

// The bytes of a value, or of a vector's elements.
template <typename T>
[[nodiscard]] std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
template <typename T>
[[nodiscard]] std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
[[nodiscard]] std::vector<T> ElementsOf(const std::string& bytes) {
  const T* begin = reinterpret_cast<const T*>(bytes.data());
  return std::vector<T>(begin, begin + bytes.size() / sizeof(T));
}

}  // namespace kb
