constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

// How many elements, their mean, and the sum of their squared distances from it.
struct Moments {
  float count, mean, squares;
};

// Of both parts together (Chan, Golub and LeVeque): no large numbers are subtracted.
__device__ Moments Joined(Moments a, Moments b) {
  const float count = a.count + b.count;
  const float share = b.count / fmaxf(count, 1.0f);
  const float apart = b.mean - a.mean;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

// Over the block, in all threads. Once a kernel: the shared array is not guarded for reuse.
__device__ Moments BlockJoined(Moments part) {
  __shared__ Moments of_warp[kWarps];
  for (int step = 16; step > 0; step /= 2) {
    part = Joined(part, {__shfl_down_sync(0xffffffffu, part.count, step),
                         __shfl_down_sync(0xffffffffu, part.mean, step),
                         __shfl_down_sync(0xffffffffu, part.squares, step)});
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = part;
  __syncthreads();
  Moments all = of_warp[0];
  for (int w = 1; w < kWarps; ++w) all = Joined(all, of_warp[w]);
  return all;
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
  const int vectors = cols / 4;
  const long long start = static_cast<long long>(blockIdx.x) * vectors;
  const float4* from = reinterpret_cast<const float4*>(x) + start;
  float4 row[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    row[k] = v < vectors ? from[v] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  Moments own = {0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    own.mean += Sum(row[k]);
    if (threadIdx.x + k * kThreads < vectors) own.count += 4.0f;
  }
  own.mean /= fmaxf(own.count, 1.0f);
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (threadIdx.x + k * kThreads < vectors) own.squares += Squares(Less(row[k], own.mean));
  }
  const Moments all = BlockJoined(own);
  const float scale = rsqrtf(all.squares / all.count + eps);
  float4* to = reinterpret_cast<float4*>(y) + start;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int v = threadIdx.x + k * kThreads;
    if (v < vectors) {
      to[v] = Scaled(Less(row[k], all.mean), scale, reinterpret_cast<const float4*>(gain)[v],
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

// Any row: read twice, one element an access.
extern "C" __global__ void __launch_bounds__(kThreads)
    layernorm_any(const float* x, const float* gain, const float* bias, float* y, int cols,
                  float eps) {
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  float* to = y + static_cast<long long>(blockIdx.x) * cols;
  Moments own = {0.0f, 0.0f, 0.0f};
  for (int c = threadIdx.x; c < cols; c += kThreads) own = Joined(own, {1.0f, row[c], 0.0f});
  const Moments all = BlockJoined(own);
  const float scale = rsqrtf(all.squares / all.count + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    to[c] = (row[c] - all.mean) * scale * gain[c] + bias[c];
  }
}
