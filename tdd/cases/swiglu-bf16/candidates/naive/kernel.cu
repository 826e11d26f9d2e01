#include <cuda_bf16.h>

extern "C" __global__ void swiglu(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  const int c = blockIdx.y * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const long long row = blockIdx.x;
  const float gate = __bfloat162float(x[2 * row * cols + c]);
  const float up = __bfloat162float(x[2 * row * cols + cols + c]);
  y[row * cols + c] = __float2bfloat16(gate / (1.0f + expf(-gate)) * up);
}
