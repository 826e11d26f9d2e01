// 1056 blocks: eight on each of 132 multiprocessors, all resident. The order of additions depends
// on n alone, so the result has the same bits each time.
constexpr int kThreads = 256;
constexpr int kEach = 4;  // float4s in flight a thread

__device__ float WarpSum(float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

// The sum over the block, in all threads. Once a kernel: the shared array is not guarded for reuse.
__device__ float BlockSum(float value) {
  __shared__ float of_warp[kThreads / 32];
  const float warp_sum = WarpSum(value);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = warp_sum;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) sum += of_warp[w];
  return sum;
}

extern "C" __global__ void partial_sums(const float* x, float* partial, int n) {
  float sum = 0.0f;
  const int step = gridDim.x * kThreads * kEach;
  for (int i = blockIdx.x * kThreads * kEach + threadIdx.x; i < n / 4; i += step) {
    float4 v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      v[k] = i + k * kThreads < n / 4 ? reinterpret_cast<const float4*>(x)[i + k * kThreads]
                                      : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) sum += x[n - 1 - threadIdx.x];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_of_partials(const float* partial, int count, float* total) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += kThreads) sum += partial[i];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) *total = sum;
}
