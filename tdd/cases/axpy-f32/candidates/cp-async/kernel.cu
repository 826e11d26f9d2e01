// Each thread owns one slot a stage, so that no barrier is needed: a thread may read what its own
// cp.async brought once cp.async.wait_group has returned.
constexpr int kThreads = 256;
constexpr int kStages = 4;

__device__ void CopyAsync(float4* to, const float4* from) {
  const unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}

extern "C" __global__ void axpy(const float* x, const float* y, float a, float* z, int n) {
  __shared__ float4 p[kStages][kThreads], q[kStages][kThreads];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kThreads + t;
  const int step = gridDim.x * kThreads;
  const auto fetch = [&](int stage, int i) {
    if (i < n / 4) {
      CopyAsync(&p[stage][t], reinterpret_cast<const float4*>(x) + i);
      CopyAsync(&q[stage][t], reinterpret_cast<const float4*>(y) + i);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int s = 0; s < kStages - 1; ++s) fetch(s, first + s * step);
  int stage = 0;
  for (int i = first; i < n / 4; i += step) {
    fetch((stage + kStages - 1) % kStages, i + (kStages - 1) * step);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 1) : "memory");
    const float4 u = p[stage][t], v = q[stage][t];
    reinterpret_cast<float4*>(z)[i] =
        make_float4(fmaf(a, u.x, v.x), fmaf(a, u.y, v.y), fmaf(a, u.z, v.z), fmaf(a, u.w, v.w));
    stage = (stage + 1) % kStages;
  }
  if (first < n % 4) {
    const int last = n - 1 - first;
    z[last] = fmaf(a, x[last], y[last]);
  }
}
