// A tile of 64 x 64 floats. A warp moves 4 rows x 8 float4: runs of 128 bytes in device memory. In
// shared memory a row is 65 words, so that the warp's 32 words fall into 32 banks both ways:
// bank = (row + 4 * float4 + word) mod 32 when written, the same with the roles changed when read.
constexpr int kSide = 64;
constexpr int kRounds = 4;  // float4s a thread: 256 threads x 4 x 4 floats

extern "C" __global__ void __launch_bounds__(256)
    transpose(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[kSide][kSide + 1];
  const int left = blockIdx.x * kSide, top = blockIdx.y * kSide;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int line = warp * 4 + lane / 8;  // 0..31: row of the tile when read, column when written
  const int word = lane % 8 * 4;         // 0..28: the first of four neighbours along it
  float4 kept[kRounds];
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int r = top + line + k / 2 * 32, c = left + word + k % 2 * 32;
    if (r < rows && c < cols) {
      kept[k] = *reinterpret_cast<const float4*>(x + static_cast<long long>(r) * cols + c);
    }
  }
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    float* to = &tile[line + k / 2 * 32][word + k % 2 * 32];
    to[0] = kept[k].x;
    to[1] = kept[k].y;
    to[2] = kept[k].z;
    to[3] = kept[k].w;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kRounds; ++k) {
    const int i = line + k / 2 * 32, j = word + k % 2 * 32;
    const int c = left + i, r = top + j;
    if (r < rows && c < cols) {
      *reinterpret_cast<float4*>(y + static_cast<long long>(c) * rows + r) =
          make_float4(tile[j][i], tile[j + 1][i], tile[j + 2][i], tile[j + 3][i]);
    }
  }
}

constexpr int kTile = 32;
constexpr int kStep = 8;  // rows that a block moves at once

extern "C" __global__ void transpose_any(const float* x, float* y, int rows, int cols) {
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
