__device__ float BlockSum(float value, float* partial) {
  const int t = threadIdx.x;
  partial[t] = value;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  __syncthreads();
  return partial[0];
}

extern "C" __global__ void layernorm(const float* x, const float* gain, const float* bias, float* y,
                                     int cols, float eps) {
  __shared__ float for_mean[256], for_variance[256];
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  float* to = y + static_cast<long long>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c];
  const float mean = BlockSum(sum, for_mean) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    squares += (row[c] - mean) * (row[c] - mean);
  }
  const float scale = rsqrtf(BlockSum(squares, for_variance) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    to[c] = (row[c] - mean) * scale * gain[c] + bias[c];
  }
}
