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

// Four bytes in, sixteen out a thread: a warp reads 128 bytes and writes 512, both in one run.
extern "C" __global__ void __launch_bounds__(kThreads)
    dequantise(const unsigned* q, const __nv_bfloat16* scale, uint4* y, int words) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < words) y[i] = Eight(q[i], __bfloat162float(scale[i / kWordsPerGroup]));
}
