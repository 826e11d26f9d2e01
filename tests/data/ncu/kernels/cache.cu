// Bound by a cache: by L2 when 16 MiB are read again and again past L1; by L1 when each lane
// of a warp wants another line of a table that L1 holds.
#include "case.h"

extern "C" __global__ void cache_l2(float* out, const float4* in, int count, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int r = 0; r < rounds; ++r) {
    const float4 v = __ldcg(&in[(i + r * 33792) % count]);
    sum += v.x + v.y + v.z + v.w;
  }
  out[i] = sum;
}

extern "C" __global__ void cache_l1_gather(float* out, const float* table, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned at = threadIdx.x * 33u;
  float sum = 0;
#pragma unroll 8
  for (int r = 0; r < rounds; ++r) {
    sum += __ldg(&table[at % 16384u]);
    at += 1057u * 32u + 1u;
  }
  out[i] = sum;
}

void RunCache() {
  const int count = 1 << 20;  // of 16 bytes
  const int threads = 132 * 2048 * 2;
  float4* in = Buffer<float4>(count);
  float* out = Buffer<float>(threads);
  Profile("cache_l2", [&] { cache_l2<<<threads / 256, 256>>>(out, in, count, 128); });
  Profile("cache_l1_gather",
          [&] { cache_l1_gather<<<threads / 256, 256>>>(out, reinterpret_cast<float*>(in), 256); });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
