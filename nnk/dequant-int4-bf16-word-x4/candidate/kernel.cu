#include <cuda_bf16.h>

constexpr int kThreads = 256;
constexpr int kWordsPerGroup = 16;  // of eight nibbles

// 2^23 + nibble is a float whose last bits are the nibble: no conversion instruction is needed.
__device__ float Value(unsigned word, int place) {
  const unsigned nibble = (word >> (4 * place)) & 15u;
  return __uint_as_float(0x4b000000u | nibble) - 8388616.0f;  // 2^23 + 8
}

__device__ unsigned Pair(unsigned word, int place, float scale) {
  const __nv_bfloat162 pair =
      __floats2bfloat162_rn(Value(word, place) * scale, Value(word, place + 1) * scale);
  return *reinterpret_cast<const unsigned*>(&pair);
}

__device__ uint4 Eight(unsigned word, float scale) {
  return make_uint4(Pair(word, 0, scale), Pair(word, 2, scale), Pair(word, 4, scale),
                    Pair(word, 6, scale));
}

constexpr int kEach = 4;  // words in flight a thread

// Four bytes in, sixteen out, four times a thread: a warp reads runs of 128 bytes and writes runs
// of 512, and all loads are under way before the first result.
extern "C" __global__ void __launch_bounds__(kThreads)
    dequantise(const unsigned* q, const __nv_bfloat16* scale, uint4* y, int words) {
  const int first = blockIdx.x * kThreads * kEach + threadIdx.x;
  unsigned word[kEach];
  float s[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kThreads;
    if (i < words) {
      word[k] = q[i];
      s[k] = __bfloat162float(scale[i / kWordsPerGroup]);
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kThreads;
    if (i < words) y[i] = Eight(word[k], s[k]);
  }
}
