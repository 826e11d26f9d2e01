#include <cuda_bf16.h>

constexpr int kThreads = 256;

// Over the warp, in its first lane; the other lanes get parts of it.
__device__ float WarpMax(float value) {
  for (int step = 16; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_down_sync(0xffffffffu, value, step));
  }
  return value;
}

__device__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
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
  float largest = row[0];
#pragma unroll
  for (int i = 1; i < 8 * kVectors; ++i) largest = fmaxf(largest, row[i]);
  largest = BlockMax(largest);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < 8 * kVectors; ++i) {
    row[i] = __expf(row[i] - largest);
    sum += row[i];
  }
  const float scale = 1.0f / BlockSum(sum);
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
