// A tile is 4096 neighbouring elements. A warp takes 512 of them as four runs of 128: lane l holds
// elements 4 l .. 4 l + 3 of each run, so that all accesses are whole float4s side by side.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kRuns = 4;
constexpr int kTile = kThreads * kRuns * 4;

struct Part {
  float4 run[kRuns];
};

// The first of this lane's elements in the tile.
__device__ int FirstOfLane() { return threadIdx.x / 32 * (kRuns * 128) + threadIdx.x % 32 * 4; }

// Elements after the n-th count as 0.
__device__ Part LoadTile(const float* x, int start, int n) {
  Part part;
  const int first = start + FirstOfLane();
  if (start + kTile <= n) {
#pragma unroll
    for (int k = 0; k < kRuns; ++k) {
      part.run[k] = *reinterpret_cast<const float4*>(x + first + k * 128);
    }
    return part;
  }
#pragma unroll
  for (int k = 0; k < kRuns; ++k) {
    float* to = &part.run[k].x;
#pragma unroll
    for (int j = 0; j < 4; ++j) to[j] = first + k * 128 + j < n ? x[first + k * 128 + j] : 0.0f;
  }
  return part;
}

// Makes each element the sum of its warp's elements so far.
__device__ void ScanWarp(Part& part) {
  const int lane = threadIdx.x % 32;
  float total = 0.0f;
#pragma unroll
  for (int k = 0; k < kRuns; ++k) {
    float4& v = part.run[k];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    float sum = v.w;
    for (int step = 1; step < 32; step *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += left;
    }
    const float left = __shfl_up_sync(0xffffffffu, sum, 1);
    const float before = total + (lane > 0 ? left : 0.0f);
    v = make_float4(v.x + before, v.y + before, v.z + before, v.w + before);
    total += __shfl_sync(0xffffffffu, sum, 31);
  }
}

// The sum of the warps before this one. Once a kernel, or with a barrier in between: the shared
// array is not guarded for reuse.
__device__ float BeforeWarp(const Part& part) {
  __shared__ float totals[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 31) totals[warp] = part.run[kRuns - 1].w;
  __syncthreads();
  float before = 0.0f;
  for (int w = 0; w < warp; ++w) before += totals[w];
  return before;
}

__device__ void StoreTile(float* y, int start, int n, const Part& part, float before) {
  const int first = start + FirstOfLane();
#pragma unroll
  for (int k = 0; k < kRuns; ++k) {
    const int i = first + k * 128;
    const float4 v = make_float4(part.run[k].x + before, part.run[k].y + before,
                                 part.run[k].z + before, part.run[k].w + before);
    if (start + kTile <= n) {
      *reinterpret_cast<float4*>(y + i) = v;
    } else {
      const float* from = &v.x;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (i + j < n) y[i + j] = from[j];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    sum_tiles(const float* x, float* sums, int n) {
  __shared__ float totals[kWarps];
  const Part part = LoadTile(x, blockIdx.x * kTile, n);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kRuns; ++k) {
    sum += (part.run[k].x + part.run[k].y) + (part.run[k].z + part.run[k].w);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  float total = 0.0f;
  for (int w = 0; w < kWarps; ++w) total += totals[w];
  sums[blockIdx.x] = total;
}

// In place, by one block: sums[i] becomes the sum of the tiles 0 .. i.
extern "C" __global__ void __launch_bounds__(kThreads) scan_sums(float* sums, int count) {
  __shared__ float run_total;
  float carry = 0.0f;
  for (int start = 0; start < count; start += kTile) {
    Part part = LoadTile(sums, start, count);
    ScanWarp(part);
    const float before = BeforeWarp(part);
    StoreTile(sums, start, count, part, carry + before);
    if (threadIdx.x == kThreads - 1) run_total = before + part.run[kRuns - 1].w;
    __syncthreads();
    carry += run_total;
    __syncthreads();  // before it and the warps' totals are written again
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    scan_tiles(const float* x, const float* sums, float* y, int n) {
  Part part = LoadTile(x, blockIdx.x * kTile, n);
  ScanWarp(part);
  float before = BeforeWarp(part);
  if (blockIdx.x > 0) before += sums[blockIdx.x - 1];
  StoreTile(y, blockIdx.x * kTile, n, part, before);
}
