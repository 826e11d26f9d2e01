#include <cuda_bf16.h>

extern "C" __global__ void softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int cols) {
  __shared__ float largest_of[256];
  __shared__ float sum_of[256];
  const int t = threadIdx.x;
  const __nv_bfloat16* row = x + static_cast<long long>(blockIdx.x) * cols;
  __nv_bfloat16* to = y + static_cast<long long>(blockIdx.x) * cols;

  float largest = __uint_as_float(0xff800000u);  // minus infinity
  for (int c = t; c < cols; c += blockDim.x) largest = fmaxf(largest, __bfloat162float(row[c]));
  largest_of[t] = largest;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) largest_of[t] = fmaxf(largest_of[t], largest_of[t + half]);
  }
  __syncthreads();
  largest = largest_of[0];

  float sum = 0.0f;
  for (int c = t; c < cols; c += blockDim.x) sum += expf(__bfloat162float(row[c]) - largest);
  sum_of[t] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sum_of[t] += sum_of[t + half];
  }
  __syncthreads();
  sum = sum_of[0];

  for (int c = t; c < cols; c += blockDim.x) {
    to[c] = __float2bfloat16(expf(__bfloat162float(row[c]) - largest) / sum);
  }
}
