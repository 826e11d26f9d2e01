#include <cuda_bf16.h>

extern "C" __global__ void dequantise(const unsigned char* q, const __nv_bfloat16* scale,
                                      __nv_bfloat16* y, int bytes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= bytes) return;
  const float s = __bfloat162float(scale[i / 64]);
  const int low = q[i] & 15;
  const int high = q[i] >> 4;
  y[2 * i] = __float2bfloat16((low - 8) * s);
  y[2 * i + 1] = __float2bfloat16((high - 8) * s);
}
