#include <cuda_bf16.h>

extern "C" __global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y,
                                   int cols, float eps) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
  const __nv_bfloat16* row = x + static_cast<long long>(blockIdx.x) * cols;
  float squares = 0.0f;
  for (int c = t; c < cols; c += blockDim.x) {
    const float value = __bfloat162float(row[c]);
    squares += value * value;
  }
  partial[t] = squares;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  __syncthreads();
  const float scale = rsqrtf(partial[0] / cols + eps);
  __nv_bfloat16* to = y + static_cast<long long>(blockIdx.x) * cols;
  for (int c = t; c < cols; c += blockDim.x) {
    to[c] = __float2bfloat16(__bfloat162float(row[c]) * scale * __bfloat162float(w[c]));
  }
}
