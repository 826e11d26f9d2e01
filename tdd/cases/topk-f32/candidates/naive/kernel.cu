__device__ bool Before(float a, int a_column, float b, int b_column) {
  return a > b || (a == b && a_column < b_column);
}

extern "C" __global__ void topk(const float* x, float* values, int* columns, int cols, int k) {
  __shared__ float best_of[256];
  __shared__ int column_of[256];
  const int t = threadIdx.x;
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  float last = 0.0f;
  int last_column = -1;
  for (int round = 0; round < k; ++round) {
    float best = 0.0f;
    int column = -1;
    for (int c = t; c < cols; c += blockDim.x) {
      const bool open = round == 0 || Before(last, last_column, row[c], c);
      if (open && (column < 0 || Before(row[c], c, best, column))) {
        best = row[c];
        column = c;
      }
    }
    best_of[t] = best;
    column_of[t] = column;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
      __syncthreads();
      if (t < half && column_of[t + half] >= 0 &&
          (column_of[t] < 0 ||
           Before(best_of[t + half], column_of[t + half], best_of[t], column_of[t]))) {
        best_of[t] = best_of[t + half];
        column_of[t] = column_of[t + half];
      }
    }
    __syncthreads();
    last = best_of[0];
    last_column = column_of[0];
    __syncthreads();
    if (t == 0) {
      values[blockIdx.x * k + round] = last;
      columns[blockIdx.x * k + round] = last_column;
    }
  }
}
