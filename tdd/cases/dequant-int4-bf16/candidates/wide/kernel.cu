#include <cuda_bf16.h>

constexpr int kThreads = 256;
constexpr int kQuartersPerGroup = 4;  // of 32 nibbles

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

// Sixteen bytes in, 64 out a thread: each of the four stores of a warp touches 32 runs of 16 bytes.
extern "C" __global__ void __launch_bounds__(kThreads)
    dequantise(const uint4* q, const __nv_bfloat16* scale, uint4* y, int quarters) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= quarters) return;
  const uint4 words = q[i];
  const float s = __bfloat162float(scale[i / kQuartersPerGroup]);
  y[4 * i] = Eight(words.x, s);
  y[4 * i + 1] = Eight(words.y, s);
  y[4 * i + 2] = Eight(words.z, s);
  y[4 * i + 3] = Eight(words.w, s);
}
