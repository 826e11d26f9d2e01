constexpr int kThreads = 1024;

// Inclusive scan of one value a thread, by doubling steps (Hillis and Steele).
__device__ float ScanBlock(float value, float* shared) {
  const int t = threadIdx.x;
  shared[t] = value;
  __syncthreads();
  for (int step = 1; step < kThreads; step *= 2) {
    const float left = t >= step ? shared[t - step] : 0.0f;
    __syncthreads();
    shared[t] += left;
    __syncthreads();
  }
  return shared[t];
}

extern "C" __global__ void scan_blocks(const float* x, float* y, float* sums, int n) {
  __shared__ float shared[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const float sum = ScanBlock(i < n ? x[i] : 0.0f, shared);
  if (i < n) y[i] = sum;
  if (threadIdx.x == kThreads - 1) sums[blockIdx.x] = sum;
}

// In place, in runs of 1024 that carry their total to the next.
extern "C" __global__ void scan_sums(float* sums, int count) {
  __shared__ float shared[kThreads];
  float carry = 0.0f;
  for (int first = 0; first < count; first += kThreads) {
    const int i = first + threadIdx.x;
    const float sum = ScanBlock(i < count ? sums[i] : 0.0f, shared) + carry;
    if (i < count) sums[i] = sum;
    carry += shared[kThreads - 1];
    __syncthreads();
  }
}

extern "C" __global__ void add_sums(float* y, const float* sums, int n) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.x > 0 && i < n) y[i] += sums[blockIdx.x - 1];
}
