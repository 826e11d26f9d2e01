extern "C" __global__ void clear(float* total) { *total = 0.0f; }

extern "C" __global__ void sum(const float* x, float* total, int n) {
  __shared__ float partial[256];
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  partial[t] = i < n ? x[i] : 0.0f;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) atomicAdd(total, partial[0]);
}
