// The same transpose: with 32-way bank conflicts it is bound by shared memory, with a padded
// tile by device memory.
#include "case.h"

template <int kPitch>
__device__ void Transpose(float* out, const float* in, int n) {
  __shared__ float tile[32][kPitch];
  int x = blockIdx.x * 32 + threadIdx.x, y0 = blockIdx.y * 32;
  for (int j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = in[size_t(y0 + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y0 = blockIdx.x * 32;
  for (int j = threadIdx.y; j < 32; j += 8) out[size_t(y0 + j) * n + x] = tile[threadIdx.x][j];
}

extern "C" __global__ void transpose_conflict(float* out, const float* in, int n) {
  Transpose<32>(out, in, n);
}

extern "C" __global__ void transpose_padded(float* out, const float* in, int n) {
  Transpose<33>(out, in, n);
}

void RunTranspose() {
  const int n = 8192;
  float* in = Buffer<float>(size_t(n) * n);
  float* out = Buffer<float>(size_t(n) * n);
  const dim3 grid(n / 32, n / 32), block(32, 8);
  Profile("transpose_conflict", [&] { transpose_conflict<<<grid, block>>>(out, in, n); });
  Profile("transpose_padded", [&] { transpose_padded<<<grid, block>>>(out, in, n); });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
