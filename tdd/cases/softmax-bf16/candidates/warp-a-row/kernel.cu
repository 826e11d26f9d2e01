#include <cuda_bf16.h>

constexpr int kThreads = 256;  // of softmax_any
constexpr int kWarps = 4;      // rows a block

__device__ float WarpMax(float value) {
  for (int mask = 16; mask > 0; mask /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, mask));
  }
  return value;
}

__device__ float WarpSum(float value) {
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

// Over the block, in all threads. Each once a kernel: the shared arrays are not guarded for reuse.
__device__ float BlockMax(float value) {
  __shared__ float of_warp[kThreads / 32];
  const float warp_max = WarpMax(value);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = warp_max;
  __syncthreads();
  float largest = of_warp[0];
  for (int w = 1; w < kThreads / 32; ++w) largest = fmaxf(largest, of_warp[w]);
  return largest;
}

__device__ float BlockSum(float value) {
  __shared__ float of_warp[kThreads / 32];
  const float warp_sum = WarpSum(value);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = warp_sum;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) sum += of_warp[w];
  return sum;
}

// A uint4 holds eight bf16, the first in the low half of x.
__device__ float Low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float High(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

constexpr unsigned kMinusInfinities = 0xff80ff80u;

__device__ float Largest(uint4 v) {
  const float x = fmaxf(Low(v.x), High(v.x)), y = fmaxf(Low(v.y), High(v.y));
  const float z = fmaxf(Low(v.z), High(v.z)), w = fmaxf(Low(v.w), High(v.w));
  return fmaxf(fmaxf(x, y), fmaxf(z, w));
}

__device__ float SumOfExp(unsigned pair, float largest) {
  return __expf(Low(pair) - largest) + __expf(High(pair) - largest);
}

__device__ unsigned Scaled(unsigned pair, float largest, float scale) {
  return Pair(__expf(Low(pair) - largest) * scale, __expf(High(pair) - largest) * scale);
}

template <int kVectors>
__device__ void Softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {
  const int r = blockIdx.x * kWarps + threadIdx.x / 32;
  if (r >= rows) return;
  const int lane = threadIdx.x % 32;
  const int vectors = cols / 8;
  const long long start = static_cast<long long>(r) * vectors;
  const uint4* from = reinterpret_cast<const uint4*>(x) + start;
  uint4 row[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = lane + k * 32;
    row[k] = v < vectors ? from[v]
                         : make_uint4(kMinusInfinities, kMinusInfinities, kMinusInfinities,
                                      kMinusInfinities);
  }
  float largest = Largest(row[0]);
#pragma unroll
  for (int k = 1; k < kVectors; ++k) largest = fmaxf(largest, Largest(row[k]));
  largest = WarpMax(largest);
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    sum += SumOfExp(row[k].x, largest) + SumOfExp(row[k].y, largest) + SumOfExp(row[k].z, largest) +
           SumOfExp(row[k].w, largest);
  }
  const float scale = 1.0f / WarpSum(sum);
  uint4* to = reinterpret_cast<uint4*>(y) + start;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = lane + k * 32;
    if (v < vectors) {
      to[v] = make_uint4(Scaled(row[k].x, largest, scale), Scaled(row[k].y, largest, scale),
                         Scaled(row[k].z, largest, scale), Scaled(row[k].w, largest, scale));
    }
  }
}

extern "C" __global__ void __launch_bounds__(32 * kWarps)
    softmax_1024(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {
  Softmax<4>(x, y, rows, cols);
}

extern "C" __global__ void __launch_bounds__(32 * kWarps)
    softmax_4096(const __nv_bfloat16* x, __nv_bfloat16* y, int rows, int cols) {
  Softmax<16>(x, y, rows, cols);
}

// Any row: read three times, one bf16 an access.
extern "C" __global__ void softmax_any(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  const long long start = static_cast<long long>(blockIdx.x) * cols;
  float largest = __uint_as_float(0xff800000u);  // minus infinity
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    largest = fmaxf(largest, __bfloat162float(x[start + c]));
  }
  largest = BlockMax(largest);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    sum += __expf(__bfloat162float(x[start + c]) - largest);
  }
  const float scale = 1.0f / BlockSum(sum);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    y[start + c] = __float2bfloat16(__expf(__bfloat162float(x[start + c]) - largest) * scale);
  }
}
