#include <cuda_bf16.h>

constexpr int kThreads = 256;
constexpr int kWordsPerGroup = 16;  // of eight nibbles
constexpr int kEach = 4;            // words in flight a thread

// 0x4300 | nibble is the bf16 128 + nibble; 136 less is exact, and the product is rounded once, as
// it is from fp32.
__device__ unsigned Pair(unsigned word, int place, __nv_bfloat162 scale) {
  const unsigned low = (word >> (4 * place)) & 15u;
  const unsigned high = (word >> (4 * place + 4)) & 15u;
  const unsigned bits = 0x43004300u | high << 16 | low;
  const __nv_bfloat162 offset = __float2bfloat162_rn(136.0f);
  const __nv_bfloat162 pair =
      __hmul2(__hsub2(*reinterpret_cast<const __nv_bfloat162*>(&bits), offset), scale);
  return *reinterpret_cast<const unsigned*>(&pair);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    dequantise(const unsigned* q, const __nv_bfloat16* scale, uint4* y, int words) {
  const int first = blockIdx.x * kThreads * kEach + threadIdx.x;
  unsigned word[kEach];
  __nv_bfloat16 s[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kThreads;
    if (i < words) {
      word[k] = q[i];
      s[k] = scale[i / kWordsPerGroup];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kThreads;
    const __nv_bfloat162 both = __bfloat162bfloat162(s[k]);
    if (i < words) {
      y[i] = make_uint4(Pair(word[k], 0, both), Pair(word[k], 2, both), Pair(word[k], 4, both),
                        Pair(word[k], 6, both));
    }
  }
}
