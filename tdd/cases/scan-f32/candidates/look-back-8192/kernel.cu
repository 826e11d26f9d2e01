// A tile is 8192 neighbouring elements. A warp takes 512 of them as four runs of 128: lane l holds
// elements 4 l .. 4 l + 3 of each run, so that all accesses are whole float4s side by side.
constexpr int kThreads = 512;
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

// What a tile has told so far, in one word that is written whole: how much in the high half, the
// sum in the low half. The workspace starts as zeros.
constexpr unsigned kNothing = 0, kOwnSum = 1, kSumSoFar = 2;
using Word = unsigned long long;

__device__ Word Told(unsigned what, float sum) {
  return static_cast<Word>(what) << 32 | __float_as_uint(sum);
}
__device__ unsigned What(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ float Sum(Word word) { return __uint_as_float(static_cast<unsigned>(word)); }

// The sum of all tiles before `tile`, by a whole warp: 32 tiles at a time are asked, backwards,
// until one knows its sum so far.
__device__ float LookBack(volatile Word* words, int tile) {
  const int lane = threadIdx.x % 32;
  float before = 0.0f;
  for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
    const int asked = nearest - lane;
    Word word;
    do {
      word = asked >= 0 ? words[asked] : Told(kSumSoFar, 0.0f);
    } while (__any_sync(0xffffffffu, What(word) == kNothing));
    const unsigned knowing = __ballot_sync(0xffffffffu, What(word) == kSumSoFar);
    const int last = knowing != 0 ? __ffs(knowing) - 1 : 31;
    float sum = lane <= last ? Sum(word) : 0.0f;
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    before += sum;
    if (knowing != 0) break;
  }
  return before;
}

extern "C" __global__ void __launch_bounds__(kThreads)
    scan(const float* x, float* y, volatile Word* words, unsigned* tickets, int n) {
  __shared__ int drawn;
  __shared__ float shared_before;
  // Tiles are numbered in the order in which blocks start, so that a block only ever waits for
  // blocks that already run.
  if (threadIdx.x == 0) drawn = static_cast<int>(atomicAdd(tickets, 1u));
  __syncthreads();
  const int tile = drawn;
  const int start = tile * kTile;
  Part part = LoadTile(x, start, n);
  ScanWarp(part);
  const float before_warp = BeforeWarp(part);
  if (threadIdx.x / 32 == kWarps - 1) {
    const bool last = threadIdx.x % 32 == 31;  // holds the tile's last element
    const float total = before_warp + part.run[kRuns - 1].w;
    if (last) words[tile] = Told(kOwnSum, total);
    const float before = LookBack(words, tile);
    if (last) {
      words[tile] = Told(kSumSoFar, before + total);
      shared_before = before;
    }
  }
  __syncthreads();
  StoreTile(y, start, n, part, shared_before + before_warp);
}
