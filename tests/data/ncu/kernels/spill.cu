// The same sums: with 32 registers a thread they live in local memory, with enough of them in
// registers.
#include "case.h"

constexpr int kSums = 64;

__device__ __forceinline__ void Polynomials(float* out, const float* in, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum[kSums];
#pragma unroll
  for (int k = 0; k < kSums; ++k) sum[k] = in[i] + k;
  const float a = in[i + 1], b = in[i + 2];
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < kSums; ++k) sum[k] = fmaf(sum[k], a, b);
  }
  float total = 0;
#pragma unroll
  for (int k = 0; k < kSums; ++k) total += sum[k];
  out[i] = total;
}

extern "C" __global__ void __launch_bounds__(1024, 2)
    spill_32_registers(float* out, const float* in, int rounds) {
  Polynomials(out, in, rounds);
}

extern "C" __global__ void __launch_bounds__(256)
    spill_fixed(float* out, const float* in, int rounds) {
  Polynomials(out, in, rounds);
}

void RunSpill() {
  const int threads = 132 * 2048 * 2;
  float* in = Buffer<float>(threads + 2);
  float* out = Buffer<float>(threads);
  Profile("spill_32_registers", [&] { spill_32_registers<<<threads / 1024, 1024>>>(out, in, 64); });
  Profile("spill_fixed", [&] { spill_fixed<<<threads / 256, 256>>>(out, in, 256); });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
