#include <cuda_bf16.h>

extern "C" __global__ void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                int m, int n, int k) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 32) {
    const int i = start + threadIdx.x, j = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] =
        row < m && i < k ? __bfloat162float(a[static_cast<long long>(row) * k + i]) : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        j < k && col < n ? __bfloat162float(b[static_cast<long long>(j) * n + col]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < 32; ++p) sum += tile_a[threadIdx.y][p] * tile_b[p][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<long long>(row) * n + col] = __float2bfloat16(sum);
}
