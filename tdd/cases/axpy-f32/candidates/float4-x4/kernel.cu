// A block takes 1024 neighbouring float4s; a thread takes four of them, 256 apart, so that every
// access of a warp stays one run of 512 bytes. Eight loads are in flight before the first use.
constexpr int kThreads = 256;
constexpr int kEach = 4;

extern "C" __global__ void axpy(const float* x, const float* y, float a, float* z, int n) {
  const int first = blockIdx.x * (kThreads * kEach) + threadIdx.x;
  float4 p[kEach], q[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kThreads;
    if (i < n / 4) {
      p[k] = reinterpret_cast<const float4*>(x)[i];
      q[k] = reinterpret_cast<const float4*>(y)[i];
    }
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const int i = first + k * kThreads;
    if (i < n / 4) {
      reinterpret_cast<float4*>(z)[i] =
          make_float4(fmaf(a, p[k].x, q[k].x), fmaf(a, p[k].y, q[k].y), fmaf(a, p[k].z, q[k].z),
                      fmaf(a, p[k].w, q[k].w));
    }
  }
  if (first < n % 4) {
    const int last = n - 1 - first;
    z[last] = fmaf(a, x[last], y[last]);
  }
}
