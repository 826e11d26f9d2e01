// As many blocks as 132 multiprocessors hold at once (8 of 256 threads each); each thread walks the
// vectors in steps of the whole grid.
extern "C" __global__ void axpy(const float* x, const float* y, float a, float* z, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.x * blockDim.x;
  for (int i = first; i < n / 4; i += step) {
    const float4 p = reinterpret_cast<const float4*>(x)[i];
    const float4 q = reinterpret_cast<const float4*>(y)[i];
    reinterpret_cast<float4*>(z)[i] =
        make_float4(fmaf(a, p.x, q.x), fmaf(a, p.y, q.y), fmaf(a, p.z, q.z), fmaf(a, p.w, q.w));
  }
  if (first < n % 4) {
    const int last = n - 1 - first;
    z[last] = fmaf(a, x[last], y[last]);
  }
}
