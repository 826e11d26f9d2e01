// 1056 blocks: eight on each of 132 multiprocessors, all resident. The order of additions depends
// on n alone, so the result has the same bits each time.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The sum over the warp, in its first lane; the other lanes get parts of it.
__device__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

// The sum over the block, in thread 0. `of_warp`: for this call alone.
__device__ float BlockSum(float value, float* of_warp) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  value = WarpSum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  return WarpSum(lane < kWarps ? of_warp[lane] : 0.0f);
}

// This thread's part of the sum. Four float4s are under way at once.
__device__ float SumOfThread(const float* x, int n) {
  float sum = 0.0f;
  const int first = blockIdx.x * kThreads + threadIdx.x;
  const int step = gridDim.x * kThreads;
  const int vectors = n / 4;
#pragma unroll 4
  for (int i = first; i < vectors; i += step) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  if (first < n % 4) sum += x[n - 1 - first];
  return sum;
}

extern "C" __global__ void partial_sums(const float* x, float* partial, int n) {
  __shared__ float of_warp[kWarps];
  const float sum = BlockSum(SumOfThread(x, n), of_warp);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

extern "C" __global__ void sum_of_partials(const float* partial, int count, float* total) {
  __shared__ float of_warp[kWarps];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < count; i += kThreads) sum += partial[i];
  sum = BlockSum(sum, of_warp);
  if (threadIdx.x == 0) *total = sum;
}
