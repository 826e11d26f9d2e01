// The same sum: 200 KB of shared memory a block leave an SM two warps, too few to hide the
// latency of memory; without them it is bound by the bandwidth of device memory.
#include "case.h"

__device__ __forceinline__ float StridedSum(const float4* in, size_t count) {
  float sum = 0;
  const size_t step = size_t(gridDim.x) * blockDim.x;
#pragma unroll 4
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += step) {
    const float4 v = in[i];
    sum += v.x + v.y + v.z + v.w;
  }
  return sum;
}

extern "C" __global__ void occupancy_shared_200k(float* out, const float4* in, size_t count) {
  extern __shared__ float scratch[];
  scratch[threadIdx.x] = StridedSum(in, count);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = scratch[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void occupancy_full(float* out, const float4* in, size_t count) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = StridedSum(in, count);
}

void RunOccupancy() {
  const size_t count = size_t(16) << 20;
  const int blocks = 132 * 16, threads = 132 * 2048 * 2;
  float4* in = Buffer<float4>(count);
  float* out = Buffer<float>(threads);
  const int shared_bytes = 200 * 1024;
  CHECK(cudaFuncSetAttribute(occupancy_shared_200k, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes));
  Profile("occupancy_shared_200k",
          [&] { occupancy_shared_200k<<<blocks, 64, shared_bytes>>>(out, in, count / 4); });
  Profile("occupancy_full", [&] { occupancy_full<<<threads / 256, 256>>>(out, in, count); });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
