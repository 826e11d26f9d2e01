// Each block leaves its sum, then takes a ticket; who draws the last one adds all sums. The fence
// before the ticket makes the sum visible to that block. Same bits each time.
constexpr int kThreads = 256;
constexpr int kEach = 4;  // float4s in flight a thread

__device__ float WarpSum(float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

// The sum over the block, in thread 0. `of_warp`: for this call alone.
__device__ float BlockSum(float value, float* of_warp) {
  const float warp_sum = WarpSum(value);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = warp_sum;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) sum += of_warp[w];
  return sum;
}

extern "C" __global__ void sum(const float* x, volatile float* partial, unsigned* finished,
                               float* total, int n) {
  __shared__ float of_warp[2][kThreads / 32];
  __shared__ bool last;
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
  sum = BlockSum(sum, of_warp[0]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(finished, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  float rest = 0.0f;
  for (int i = threadIdx.x; i < gridDim.x; i += kThreads) rest += partial[i];
  rest = BlockSum(rest, of_warp[1]);
  if (threadIdx.x == 0) *total = rest;
}
