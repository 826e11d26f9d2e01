#include <cuda_bf16.h>

constexpr int kThreads = 256;

// The sum over the warp, in its first lane; the other lanes get parts of it.
__device__ float WarpSum(float value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
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

// A uint4 holds eight bf16, the first in the low half of x.
__device__ float Low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float High(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

__device__ float Squares(uint4 v) {
  float sum = 0.0f;
  const unsigned pairs[4] = {v.x, v.y, v.z, v.w};
  for (const unsigned pair : pairs) {
    sum += Low(pair) * Low(pair) + High(pair) * High(pair);
  }
  return sum;
}

__device__ unsigned Scaled(unsigned x, unsigned w, float scale) {
  return Pair(Low(x) * scale * Low(w), High(x) * scale * High(w));
}

__device__ uint4 Scaled(uint4 x, uint4 w, float scale) {
  return make_uint4(Scaled(x.x, w.x, scale), Scaled(x.y, w.y, scale), Scaled(x.z, w.z, scale),
                    Scaled(x.w, w.w, scale));
}

template <int kVectors>
__device__ void Rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int cols,
                        float eps) {
  const int vectors = cols / 8;
  const long long start = static_cast<long long>(blockIdx.x) * vectors;
  const uint4* from = reinterpret_cast<const uint4*>(x) + start;
  uint4 row[kVectors] = {}, weight[kVectors];
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    if (v < vectors) {
      row[k] = from[v];
      weight[k] = reinterpret_cast<const uint4*>(w)[v];
    }
    squares += Squares(row[k]);
  }
  const float scale = rsqrtf(BlockSum(squares) / cols + eps);
  uint4* to = reinterpret_cast<uint4*>(y) + start;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    if (v < vectors) to[v] = Scaled(row[k], weight[k], scale);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    rmsnorm_4096(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int cols,
                 float eps) {
  Rmsnorm<2>(x, w, y, cols, eps);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    rmsnorm_8192(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int cols,
                 float eps) {
  Rmsnorm<4>(x, w, y, cols, eps);
}

// Any row: read twice, one bf16 an access.
extern "C" __global__ void rmsnorm_any(const __nv_bfloat16* x, const __nv_bfloat16* w,
                                       __nv_bfloat16* y, int cols, float eps) {
  const long long start = static_cast<long long>(blockIdx.x) * cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float value = __bfloat162float(x[start + c]);
    squares += value * value;
  }
  const float scale = rsqrtf(BlockSum(squares) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    const float value = __bfloat162float(x[start + c]);
    y[start + c] = __float2bfloat16(value * scale * __bfloat162float(w[c]));
  }
}
