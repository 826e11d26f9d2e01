constexpr unsigned kAll = 0xffffffffu;
constexpr int kEach = 4;  // float4s in flight a lane

struct Entry {
  float value;
  int column;
};

__device__ bool Before(Entry a, Entry b) {
  return a.value > b.value || (a.value == b.value && a.column < b.column);
}

// Worse than any element.
__device__ Entry Nothing() { return {__uint_as_float(0xff800000u), 0x7fffffff}; }

__device__ Entry OfLane(Entry entry, int lane) {
  return {__shfl_sync(kAll, entry.value, lane), __shfl_sync(kAll, entry.column, lane)};
}

// A warp keeps the 32 best so far, lane l the l-th. Each lane offers one entry; those that come
// before the k-th best are put in their places one by one. Most of the time there are none.
__device__ void Offer(Entry& kept, Entry offered, int k) {
  const int lane = threadIdx.x % 32;
  unsigned wanted = __ballot_sync(kAll, Before(offered, OfLane(kept, k - 1)));
  while (wanted != 0) {
    const Entry entry = OfLane(offered, __ffs(wanted) - 1);
    wanted &= wanted - 1;
    const int place = __popc(__ballot_sync(kAll, Before(kept, entry)));
    const Entry left = {__shfl_up_sync(kAll, kept.value, 1), __shfl_up_sync(kAll, kept.column, 1)};
    kept = lane > place ? left : lane == place ? entry : kept;
  }
}

// Elements `column` .. `column` + 3. After the row's end: minus infinity, and since such a column
// comes after all others and k is at most cols, never among the best.
__device__ float4 LoadSome(const float* row, int column, int cols) {
  float4 v;
  float* to = &v.x;
#pragma unroll
  for (int j = 0; j < 4; ++j) to[j] = column + j < cols ? row[column + j] : Nothing().value;
  return v;
}

// The best of the runs of 512 columns that begin at `first`, `first` + `step`, ...
__device__ Entry BestOfRuns(const float* row, int first, int step, int cols, int k) {
  Entry kept = Nothing();
  const int lane = threadIdx.x % 32;
  for (int start = first; start < cols; start += step) {
    float4 v[kEach];
    if (cols % 4 == 0 && start + kEach * 128 <= cols) {
#pragma unroll
      for (int e = 0; e < kEach; ++e) {
        v[e] = *reinterpret_cast<const float4*>(row + start + e * 128 + lane * 4);
      }
    } else {
#pragma unroll
      for (int e = 0; e < kEach; ++e) v[e] = LoadSome(row, start + e * 128 + lane * 4, cols);
    }
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const float largest = fmaxf(fmaxf(v[e].x, v[e].y), fmaxf(v[e].z, v[e].w));
      if (!__any_sync(kAll, largest >= __shfl_sync(kAll, kept.value, k - 1))) continue;
      const int column = start + e * 128 + lane * 4;
      const float* element = &v[e].x;
#pragma unroll
      for (int j = 0; j < 4; ++j) Offer(kept, {element[j], column + j}, k);
    }
  }
  return kept;
}

constexpr int kWarps = 8;

extern "C" __global__ void __launch_bounds__(32 * kWarps)
    topk(const float* x, float* values, int* columns, int cols, int k) {
  __shared__ Entry list[kWarps][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const float* row = x + static_cast<long long>(blockIdx.x) * cols;
  const int run = kEach * 128;
  Entry kept = BestOfRuns(row, warp * run, kWarps * run, cols, k);
  list[warp][lane] = kept;
  __syncthreads();
  if (warp > 0) return;
  for (int w = 1; w < kWarps; ++w) Offer(kept, list[w][lane], k);
  if (lane < k) {
    values[blockIdx.x * k + lane] = kept.value;
    columns[blockIdx.x * k + lane] = kept.column;
  }
}
