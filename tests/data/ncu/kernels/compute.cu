// Each made to fill one kind of arithmetic pipe, or the issue slots; no memory to speak of.
#include "case.h"

extern "C" __global__ void compute_fp32(float* out, float a, float b, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = float(i + k);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = fmaf(x[k], a, b);
  }
  out[i] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7];
}

extern "C" __global__ void compute_fp64(float* out, double a, double b, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] = double(i + k);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = fma(x[k], a, b);
  }
  out[i] = float(x[0] + x[1] + x[2] + x[3]);
}

// Special functions: sixteen results a cycle and SM, so their pipe fills first.
extern "C" __global__ void compute_special(float* out, float a, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) x[k] = float(i + k) * 1e-6f;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = __cosf(x[k]);
  }
  out[i] = (x[0] + x[1] + x[2] + x[3]) * a;
}

// Logic and shifts: all for the ALU pipe, half of the issue slots.
extern "C" __global__ void compute_integer(unsigned* out, unsigned a, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = unsigned(i + k);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = __funnelshift_l(x[k], x[k], 5) ^ a;
  }
  out[i] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

// One of three instructions for the ALU, two for the FMA pipes: neither is full when the
// schedulers are.
extern "C" __global__ void issue_mixed(float* out, float a, float b, unsigned mask, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x[8];
  unsigned y[4];
#pragma unroll
  for (int k = 0; k < 8; ++k) x[k] = float(i + k);
#pragma unroll
  for (int k = 0; k < 4; ++k) y[k] = unsigned(i + k);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) x[k] = fmaf(x[k], a, b);
#pragma unroll
    for (int k = 0; k < 4; ++k) y[k] = (y[k] & mask) ^ y[(k + 1) % 4];
  }
  out[i] = x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7] + float(y[0] ^ y[1] ^ y[2] ^ y[3]);
}

void RunCompute() {
  const int threads = 132 * 2048 * 4;
  float* out = Buffer<float>(threads);
  const int blocks = threads / 256;
  Profile("compute_fp32", [&] { compute_fp32<<<blocks, 256>>>(out, 0.99f, 0.5f, 1024); });
  Profile("compute_fp64", [&] { compute_fp64<<<blocks, 256>>>(out, 0.99, 0.5, 512); });
  Profile("compute_special", [&] { compute_special<<<blocks, 256>>>(out, 0.99f, 256); });
  Profile("compute_integer", [&] {
    compute_integer<<<blocks, 256>>>(reinterpret_cast<unsigned*>(out), 0x9e3779b9u, 512);
  });
  Profile("issue_mixed",
          [&] { issue_mixed<<<blocks, 256>>>(out, 0.99f, 0.5f, 0x5bd1e995u, 1024); });
  CHECK(cudaFree(out));
}
