#include <cuda_bf16.h>

constexpr int kThreads = 256;
constexpr float kLowest = -3.0e38f;  // finite, so that the difference of two of them is 0

// The sum of exp(x - largest) over some elements.
struct Part {
  float largest;
  float sum;
};

__device__ Part Joined(Part a, Part b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

// Over the block, in all threads. Once a kernel: the shared array is not guarded for reuse.
__device__ Part BlockJoined(Part part) {
  __shared__ Part of_warp[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) {
    part = Joined(part, {__shfl_down_sync(0xffffffffu, part.largest, step),
                         __shfl_down_sync(0xffffffffu, part.sum, step)});
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
  __syncthreads();
  Part all = of_warp[0];
  for (int w = 1; w < kThreads / 32; ++w) all = Joined(all, of_warp[w]);
  return all;
}

// A uint4 holds eight bf16, the first in the low half of x.
__device__ float Low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float High(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

constexpr unsigned kMinusInfinities = 0xff80ff80u;

__device__ void Unpack(uint4 v, float* to) {
  const unsigned pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int p = 0; p < 4; ++p) {
    to[2 * p] = Low(pairs[p]);
    to[2 * p + 1] = High(pairs[p]);
  }
}

template <int kVectors>
__device__ void Softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  const int vectors = cols / 8;
  const long long start = static_cast<long long>(blockIdx.x) * vectors;
  const uint4* from = reinterpret_cast<const uint4*>(x) + start;
  uint4 packed[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    packed[k] = v < vectors ? from[v]
                            : make_uint4(kMinusInfinities, kMinusInfinities, kMinusInfinities,
                                         kMinusInfinities);
  }
  float row[8 * kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) Unpack(packed[k], row + 8 * k);
  float largest = kLowest;
#pragma unroll
  for (int i = 0; i < 8 * kVectors; ++i) largest = fmaxf(largest, row[i]);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8 * kVectors; ++i) {
    row[i] = __expf(row[i] - largest);
    sum += row[i];
  }
  const Part all = BlockJoined({largest, sum});
  const float scale = __expf(largest - all.largest) / all.sum;
  uint4* to = reinterpret_cast<uint4*>(y) + start;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    const float* e = row + 8 * k;
    if (v < vectors) {
      to[v] = make_uint4(Pair(e[0] * scale, e[1] * scale), Pair(e[2] * scale, e[3] * scale),
                         Pair(e[4] * scale, e[5] * scale), Pair(e[6] * scale, e[7] * scale));
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax_4096(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  Softmax<2>(x, y, cols);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    softmax_8192(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  Softmax<4>(x, y, cols);
}

// Any row: read twice, one bf16 an access.
extern "C" __global__ void softmax_any(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  const long long start = static_cast<long long>(blockIdx.x) * cols;
  Part part = {kLowest, 0.0f};
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    part = Joined(part, {fmaxf(__bfloat162float(x[start + c]), kLowest), 1.0f});
  }
  part = BlockJoined(part);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float value = __bfloat162float(x[start + c]);
    y[start + c] = __float2bfloat16(__expf(value - part.largest) / part.sum);
  }
}
