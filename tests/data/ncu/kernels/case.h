// What each case needs: checked calls, buffers, and one profiled launch after a warm-up.
#pragma once

#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    cudaError_t error_ = (call);                                                           \
    if (error_ != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

// Memory of the device, with random words that are also harmless floats in [1, 2).
template <typename T>
T* Buffer(size_t count) {
  static std::uint32_t seed = 1;
  const size_t words = (count * sizeof(T) + 3) / 4;
  std::uint32_t* host = static_cast<std::uint32_t*>(std::malloc(words * 4));
  for (size_t i = 0; i < words; ++i) {
    seed = seed * 1664525u + 1013904223u;
    host[i] = 0x3f800000u | (seed >> 9);
  }
  void* device = nullptr;
  CHECK(cudaMalloc(&device, words * 4));
  CHECK(cudaMemcpy(device, host, words * 4, cudaMemcpyHostToDevice));
  std::free(host);
  return static_cast<T*>(device);
}

// Runs `launch` twice; a profiler started with --profile-from-start off sees the second.
template <typename Launch>
void Profile(const char* name, Launch launch) {
  launch();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStart());
  launch();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaProfilerStop());
  std::printf("%s\n", name);
}
