// own[bin][lane]: the 32 lanes of a warp always hit 32 banks, whatever the values are. Warps of the
// block share the array, hence atomics; two of them seldom meet at one word.
constexpr int kBins = 256;
constexpr int kThreads = 512;
constexpr int kEach = 4;  // int4s in flight a thread

__device__ void Count(int* own_of_lane, int bin) {
  if (static_cast<unsigned>(bin) < kBins) atomicAdd(own_of_lane + bin * 32, 1);
}

extern "C" __global__ void clear(int* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void __launch_bounds__(kThreads) histogram(const int* x, int* counts, int n) {
  __shared__ int own[kBins * 32];
  const int t = threadIdx.x;
#pragma unroll
  for (int k = 0; k < kBins * 32; k += kThreads) own[k + t] = 0;
  __syncthreads();
  int* own_of_lane = own + t % 32;
  const int step = gridDim.x * kThreads * kEach;
  for (int i = blockIdx.x * kThreads * kEach + t; i < n / 4; i += step) {
    int4 v[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      v[k] = i + k * kThreads < n / 4 ? reinterpret_cast<const int4*>(x)[i + k * kThreads]
                                      : make_int4(-1, -1, -1, -1);
    }
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      Count(own_of_lane, v[k].x);
      Count(own_of_lane, v[k].y);
      Count(own_of_lane, v[k].z);
      Count(own_of_lane, v[k].w);
    }
  }
  if (blockIdx.x == 0 && t < n % 4) Count(own_of_lane, x[n - 1 - t]);
  __syncthreads();
  if (t >= kBins) return;
  int sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) sum += own[t * 32 + (k + t) % 32];  // rotated: 32 banks a warp
  atomicAdd(&counts[t], sum);
}
