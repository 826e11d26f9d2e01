extern "C" __global__ void clear(int* counts) { counts[threadIdx.x] = 0; }

extern "C" __global__ void histogram(const int* x, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int bin = x[i];
  if (bin >= 0 && bin < 256) atomicAdd(&counts[bin], 1);
}
