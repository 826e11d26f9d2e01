// Eight histograms a block: warps do not wait for each other's additions. Within a warp, values
// whose bins share a bank still do.
constexpr int kBins = 256;
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 4;  // int4s in flight a thread

__device__ void Count(int* own, int bin) {
  if (static_cast<unsigned>(bin) < kBins) atomicAdd(&own[bin], 1);
}

extern "C" __global__ void clear(int* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void __launch_bounds__(kThreads) histogram(const int* x, int* counts, int n) {
  __shared__ int of_warp[kWarps][kBins];
  const int t = threadIdx.x;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) of_warp[w][t] = 0;
  __syncthreads();
  int* own = of_warp[t / 32];
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
      Count(own, v[k].x);
      Count(own, v[k].y);
      Count(own, v[k].z);
      Count(own, v[k].w);
    }
  }
  if (blockIdx.x == 0 && t < n % 4) Count(own, x[n - 1 - t]);
  __syncthreads();
  int sum = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) sum += of_warp[w][t];
  atomicAdd(&counts[t], sum);
}
