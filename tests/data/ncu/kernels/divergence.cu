// Eight branches: taken by eight groups of lanes of each warp in turn, or each by whole warps.
#include "case.h"

__device__ __forceinline__ float Branch(int which, float x, int rounds) {
  float y = x + 1, z = x + 2, w = x + 3;
#define KIND(k)                                    \
  case k:                                          \
    for (int r = 0; r < rounds; ++r) {             \
      x = fmaf(x, 0.90f + 0.01f * k, 0.5f + k);    \
      y = fmaf(y, 0.91f + 0.01f * k, 0.25f + k);   \
      z = fmaf(z, 0.92f + 0.01f * k, 0.125f + k);  \
      w = fmaf(w, 0.93f + 0.01f * k, 0.0625f + k); \
    }                                              \
    break;
  switch (which) { KIND(0) KIND(1) KIND(2) KIND(3) KIND(4) KIND(5) KIND(6) KIND(7) }
#undef KIND
  return x + y + z + w;
}

extern "C" __global__ void divergence_by_lane(float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Branch(i % 8, float(i), rounds);
}

extern "C" __global__ void divergence_by_warp(float* out, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = Branch(i / 32 % 8, float(i), rounds);
}

void RunDivergence() {
  const int threads = 132 * 2048 * 4;
  float* out = Buffer<float>(threads);
  Profile("divergence_by_lane", [&] { divergence_by_lane<<<threads / 256, 256>>>(out, 256); });
  Profile("divergence_by_warp", [&] { divergence_by_warp<<<threads / 256, 256>>>(out, 256); });
  CHECK(cudaFree(out));
}
