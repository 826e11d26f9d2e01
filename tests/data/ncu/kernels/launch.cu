// Grids that do not fill the device: 8 blocks for 132 SMs; and one block more than fit at once.
#include "case.h"

__device__ __forceinline__ float Work(float x, int rounds) {
  float y = x + 1, z = x + 2, w = x + 3;
  for (int r = 0; r < rounds; ++r) {
    x = fmaf(x, 0.99f, 0.5f);
    y = fmaf(y, 0.99f, 0.5f);
    z = fmaf(z, 0.99f, 0.5f);
    w = fmaf(w, 0.99f, 0.5f);
  }
  return x + y + z + w;
}

extern "C" __global__ void launch_tiny_grid(float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Work(float(i), rounds);
}

extern "C" __global__ void __launch_bounds__(1024) launch_tail(float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Work(float(i), rounds);
}

void RunLaunch() {
  const int threads = 132 * 2048 + 1024;
  float* out = Buffer<float>(threads);
  Profile("launch_tiny_grid", [&] { launch_tiny_grid<<<8, 256>>>(out, 20000); });
  Profile("launch_tail", [&] { launch_tail<<<threads / 1024, 1024>>>(out, 5000); });
  CHECK(cudaFree(out));
}
