// Full occupancy, no unit near its limit, and yet slow: each warp waits for one thing after
// another.
#include "case.h"

// Each warp follows a list of its own; all its lanes read the same word.
extern "C" __global__ void latency_pointer_chase(unsigned* out, const unsigned* next,
                                                 unsigned count, int steps) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned at = (warp * 2654435761u) & (count - 1);
  for (int i = 0; i < steps; ++i) at = (next[at] * 2654435761u + i) & (count - 1);
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}

// One warp works on a chain of dependent operations, the other 31 wait for it at a barrier.
extern "C" __global__ void __launch_bounds__(1024)
    latency_barriers(float* out, const float* in, int rounds) {
  __shared__ float last;
  float sum = in[blockIdx.x * 1024 + threadIdx.x];
  for (int r = 0; r < rounds; ++r) {
    if (threadIdx.x < 32) {
      for (int k = 0; k < 64; ++k) sum = fmaf(sum, 0.99f, 0.5f);
      if (threadIdx.x == 0) last = sum;
    }
    __syncthreads();
    sum += last;
    __syncthreads();
  }
  out[blockIdx.x * 1024 + threadIdx.x] = sum;
}

void RunLatency() {
  const unsigned count = 64u << 20;
  const int threads = 132 * 2048 * 2;
  unsigned* next = Buffer<unsigned>(count);
  unsigned* out = Buffer<unsigned>(threads);
  Profile("latency_pointer_chase",
          [&] { latency_pointer_chase<<<threads / 256, 256>>>(out, next, count, 100); });
  Profile("latency_barriers", [&] {
    latency_barriers<<<threads / 1024, 1024>>>(reinterpret_cast<float*>(out),
                                               reinterpret_cast<float*>(next), 32);
  });
  CHECK(cudaFree(next));
  CHECK(cudaFree(out));
}
