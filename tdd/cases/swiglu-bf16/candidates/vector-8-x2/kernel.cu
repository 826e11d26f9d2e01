#include <cuda_bf16.h>

// A uint4 holds eight bf16, the first in the low half of x.
__device__ float Low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float High(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }
__device__ unsigned Pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const unsigned*>(&pair);
}

constexpr int kThreads = 256;
constexpr int kEach = 2;  // vectors of eight bf16 a thread

__device__ float Swiglu(float gate, float up) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

__device__ unsigned Swiglu(unsigned gate, unsigned up) {
  return Pair(Swiglu(Low(gate), Low(up)), Swiglu(High(gate), High(up)));
}

// For cols a multiple of 8, so that each row of gate and of up begins on 16 bytes.
extern "C" __global__ void __launch_bounds__(kThreads)
    swiglu(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  const int vectors = cols / 8;
  const long long row = blockIdx.x;
  const uint4* gates = reinterpret_cast<const uint4*>(x) + 2 * row * vectors;
  const uint4* ups = gates + vectors;
  uint4* to = reinterpret_cast<uint4*>(y) + row * vectors;
  const int first = blockIdx.y * kThreads * kEach + threadIdx.x;
  uint4 gate[kEach], up[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int v = first + k * kThreads;
    if (v < vectors) {
      gate[k] = gates[v];
      up[k] = ups[v];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int v = first + k * kThreads;
    if (v < vectors) {
      to[v] = make_uint4(Swiglu(gate[k].x, up[k].x), Swiglu(gate[k].y, up[k].y),
                         Swiglu(gate[k].z, up[k].z), Swiglu(gate[k].w, up[k].w));
    }
  }
}

extern "C" __global__ void swiglu_any(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  const int c = blockIdx.y * kThreads + threadIdx.x;
  if (c >= cols) return;
  const long long row = blockIdx.x;
  const float gate = __bfloat162float(x[2 * row * cols + c]);
  const float up = __bfloat162float(x[2 * row * cols + cols + c]);
  y[row * cols + c] = __float2bfloat16(Swiglu(gate, up));
}
