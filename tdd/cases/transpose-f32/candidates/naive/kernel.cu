extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) {
    y[static_cast<long long>(c) * rows + r] = x[static_cast<long long>(r) * cols + c];
  }
}
