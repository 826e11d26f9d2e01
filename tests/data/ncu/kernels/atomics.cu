// A histogram of data that is all alike: every thread adds to the same word, or to a copy of
// its block and lane.
#include "case.h"

constexpr int kBins = 256;

extern "C" __global__ void atomics_one_address(unsigned* bins, const unsigned* keys, int count) {
  const int step = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    atomicAdd(&bins[keys[i] % kBins], keys[i] & 3u);
  }
}

extern "C" __global__ void atomics_private(unsigned* bins, const uint4* keys, int count) {
  __shared__ unsigned part[kBins][32];  // a bank for each lane
  for (int k = threadIdx.x; k < kBins * 32; k += blockDim.x) part[k / 32][k % 32] = 0;
  __syncthreads();
  const int step = gridDim.x * blockDim.x, lane = threadIdx.x % 32;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 key = keys[i];
    atomicAdd(&part[key.x % kBins][lane], 1u);
    atomicAdd(&part[key.y % kBins][lane], 1u);
    atomicAdd(&part[key.z % kBins][lane], 1u);
    atomicAdd(&part[key.w % kBins][lane], 1u);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < kBins; k += blockDim.x) {
    unsigned sum = 0;
    for (int l = 0; l < 32; ++l) sum += part[k][(l + k) % 32];
    if (sum > 0) atomicAdd(&bins[k], sum);
  }
}

void RunAtomics() {
  const int count = 64 << 20;
  unsigned* keys = nullptr;
  CHECK(cudaMalloc(&keys, size_t(count) * 4));
  CHECK(cudaMemset(keys, 7, size_t(count) * 4));
  unsigned* bins = Buffer<unsigned>(kBins);
  Profile("atomics_one_address",
          [&] { atomics_one_address<<<132 * 8, 256>>>(bins, keys, count / 16); });
  Profile("atomics_private", [&] {
    atomics_private<<<132 * 6, 256>>>(bins, reinterpret_cast<uint4*>(keys), count / 4);
  });
  CHECK(cudaFree(keys));
  CHECK(cudaFree(bins));
}
