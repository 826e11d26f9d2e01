extern "C" __global__ void clear(int* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void histogram(const int* x, int* counts, int n) {
  __shared__ int own[256];
  const int t = threadIdx.x;
  own[t] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
    const int bin = x[i];
    if (bin >= 0 && bin < 256) atomicAdd(&own[bin], 1);
  }
  __syncthreads();
  atomicAdd(&counts[t], own[t]);
}
