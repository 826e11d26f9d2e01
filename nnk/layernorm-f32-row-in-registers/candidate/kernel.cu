constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// The sum over the block, in all threads. `of_warp`: for this call alone.
__device__ float BlockSum(float value, float* of_warp) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int w = 0; w < kWarps; ++w) sum += of_warp[w];
  return sum;
}

__device__ float Sum(float4 v) { return (v.x + v.y) + (v.z + v.w); }

__device__ float4 Less(float4 v, float mean) {
  return make_float4(v.x - mean, v.y - mean, v.z - mean, v.w - mean);
}

__device__ float Squares(float4 v) { return (v.x * v.x + v.y * v.y) + (v.z * v.z + v.w * v.w); }

__device__ float4 Scaled(float4 v, float scale, float4 gain, float4 bias) {
  return make_float4(v.x * scale * gain.x + bias.x, v.y * scale * gain.y + bias.y,
                     v.z * scale * gain.z + bias.z, v.w * scale * gain.w + bias.w);
}

template <int kVectors>
__device__ void Layernorm(const float* x, const float* gain, const float* bias, float* y, int cols,
                          float eps) {
  __shared__ float for_mean[kWarps], for_variance[kWarps];
  const int vectors = cols / 4;
  const long long start = static_cast<long long>(blockIdx.x) * vectors;
  const float4* from = reinterpret_cast<const float4*>(x) + start;
  float4 row[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    row[k] = v < vectors ? from[v] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) sum += Sum(row[k]);
  const float mean = BlockSum(sum, for_mean) / cols;
  float squares = 0.0f;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    row[k] = Less(row[k], mean);
    if (threadIdx.x + k * kThreads < vectors) squares += Squares(row[k]);
  }
  const float scale = rsqrtf(BlockSum(squares, for_variance) / cols + eps);
  float4* to = reinterpret_cast<float4*>(y) + start;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    if (v < vectors) {
      to[v] = Scaled(row[k], scale, reinterpret_cast<const float4*>(gain)[v],
                     reinterpret_cast<const float4*>(bias)[v]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    layernorm_4096(const float* x, const float* gain, const float* bias, float* y, int cols,
                   float eps) {
  Layernorm<4>(x, gain, bias, y, cols, eps);
}

extern "C" __global__ void __launch_bounds__(kThreads)
    layernorm_8192(const float* x, const float* gain, const float* bias, float* y, int cols,
                   float eps) {
  Layernorm<8>(x, gain, bias, y, cols, eps);
}

// Any row: read three times, one element an access.
extern "C" __global__ void __launch_bounds__(kThreads)
    layernorm_any(const float* x, const float* gain, const float* bias, float* y, int cols,
                  float eps) {
  __shared__ float for_mean[kWarps], for_variance[kWarps];
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  float* to = y + static_cast<long long>(blockIdx.x) * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += row[c];
  const float mean = BlockSum(sum, for_mean) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    squares += (row[c] - mean) * (row[c] - mean);
  }
  const float scale = rsqrtf(BlockSum(squares, for_variance) / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    to[c] = (row[c] - mean) * scale * gain[c] + bias[c];
  }
}
