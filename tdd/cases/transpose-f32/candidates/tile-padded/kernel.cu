constexpr int kTile = 32;
constexpr int kStep = 8;  // rows that a block moves at once

extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int left = blockIdx.x * kTile, top = blockIdx.y * kTile;
#pragma unroll
  for (int k = 0; k < kTile; k += kStep) {
    const int i = k + threadIdx.y, r = top + i, c = left + threadIdx.x;
    if (r < rows && c < cols) tile[i][threadIdx.x] = x[static_cast<long long>(r) * cols + c];
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kTile; k += kStep) {
    const int i = k + threadIdx.y, c = left + i, r = top + threadIdx.x;
    if (r < rows && c < cols) y[static_cast<long long>(c) * rows + r] = tile[threadIdx.x][i];
  }
}
