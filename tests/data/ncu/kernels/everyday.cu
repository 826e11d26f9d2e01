// Kernels as people write them, not made for a bound: what limits each was written down before
// it was first profiled.
#include "case.h"

// Predicted: device memory.
extern "C" __global__ void everyday_saxpy(float* y, const float* x, float a, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
}

// Predicted: L1, two loads for each multiplication.
extern "C" __global__ void everyday_matmul_naive(float* c, const float* a, const float* b, int n) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// Predicted: shared memory, two loads from it for each multiplication.
extern "C" __global__ void everyday_matmul_tiled(float* c, const float* a, const float* b, int n) {
  __shared__ float as[32][32], bs[32][32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * 32 + x, row = blockIdx.y * 32 + y;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 32) {
    as[y][x] = a[row * n + k0 + x];
    bs[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// Predicted: device memory. One block a row, which stays in registers.
extern "C" __global__ void __launch_bounds__(256) everyday_softmax(float4* out, const float4* in) {
  __shared__ float part[8];
  const size_t at = blockIdx.x * size_t(1024) + threadIdx.x;
  float4 v[4];
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    v[k] = in[at + k * 256];
    v[k].x = __expf(v[k].x), v[k].y = __expf(v[k].y);
    v[k].z = __expf(v[k].z), v[k].w = __expf(v[k].w);
    sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(~0u, sum, lane);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += part[k];
  const float scale = 1 / sum;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    out[at + k * 256] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
  }
}

void RunEveryday() {
  const size_t words = size_t(64) << 20;
  float* x = Buffer<float>(words);
  float* y = Buffer<float>(words);
  Profile("everyday_saxpy",
          [&] { everyday_saxpy<<<unsigned(words / 256), 256>>>(y, x, 0.5f, words); });
  const int n = 1024;
  float* c = Buffer<float>(n * n);
  Profile("everyday_matmul_naive",
          [&] { everyday_matmul_naive<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(c, x, y, n); });
  Profile("everyday_matmul_tiled",
          [&] { everyday_matmul_tiled<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, x, y, n); });
  Profile("everyday_softmax", [&] {
    everyday_softmax<<<unsigned(words / 4096), 256>>>(reinterpret_cast<float4*>(y),
                                                      reinterpret_cast<float4*>(x));
  });
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  CHECK(cudaFree(c));
}
