// Eight warps share a tile of 128 x 128; each owns 64 x 32 of it. Rows in shared memory are 16
// bytes longer than their data: the eight rows that ldmatrix reads at once lie in different banks.
#include <cuda_bf16.h>

constexpr int kTileM = 128, kTileN = 128, kTileK = 32;
constexpr int kThreads = 256;
constexpr int kStages = 4;
constexpr int kRowA = kTileK + 8, kRowB = kTileN + 8;  // elements
constexpr int kStageA = kTileM * kRowA, kStageB = kTileK * kRowB;

__device__ unsigned Shared(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// 16 bytes, or 16 zero bytes.
__device__ void CopyAsync(__nv_bfloat16* to, const __nv_bfloat16* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(Shared(to)), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
}

__device__ void LoadMatrices(unsigned (&to)[4], const __nv_bfloat16* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(Shared(from))
               : "memory");
}

__device__ void LoadTransposed(unsigned (&to)[4], const __nv_bfloat16* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(Shared(from))
               : "memory");
}

__device__ void MultiplyAdd(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Starts the copies of one stage: 128 x 32 of A and 32 x 128 of B, two 16-byte pieces of each a
// thread. What lies outside the matrices becomes 0.
__device__ void Fetch(__nv_bfloat16* to_a, __nv_bfloat16* to_b, const __nv_bfloat16* a,
                      const __nv_bfloat16* b, int top, int left, int start, int m, int n, int k) {
#pragma unroll
  for (int piece = threadIdx.x; piece < 2 * kThreads; piece += kThreads) {
    const int r = piece / 4, c = piece % 4 * 8;
    const bool there = top + r < m && start + c < k;
    const long long at = there ? static_cast<long long>(top + r) * k + start + c : 0;
    CopyAsync(to_a + r * kRowA + c, a + at, there);
  }
#pragma unroll
  for (int piece = threadIdx.x; piece < 2 * kThreads; piece += kThreads) {
    const int r = piece / 16, c = piece % 16 * 8;
    const bool there = start + r < k && left + c < n;
    const long long at = there ? static_cast<long long>(start + r) * n + left + c : 0;
    CopyAsync(to_b + r * kRowB + c, b + at, there);
  }
}

// One stage: two steps of k = 16. `a`, `b`: where this warp's rows and columns begin.
__device__ void Multiply(float (&sum)[4][4][4], const __nv_bfloat16* a, const __nv_bfloat16* b) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int step = 0; step < kTileK; step += 16) {
    unsigned part_a[4][4], part_b[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      LoadMatrices(part_a[i], a + (i * 16 + lane % 16) * kRowA + step + lane / 16 * 8);
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      LoadTransposed(part_b[j], b + (step + lane % 16) * kRowB + j * 16 + lane / 16 * 8);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        MultiplyAdd(sum[i][j], part_a[i], part_b[j / 2][j % 2 * 2], part_b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
}

// Lane l holds columns 2 (l % 4), + 1 of rows l / 4 and l / 4 + 8 of each 16 x 8 piece.
__device__ void Store(__nv_bfloat16* c, const float (&sum)[4][4][4], int top, int left, int m,
                      int n) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = top + i * 16 + lane / 4, col = left + j * 8 + lane % 4 * 2;
      if (col >= n) continue;
      const float* d = sum[i][j];
      __nv_bfloat16* to = c + static_cast<long long>(row) * n + col;
      if (row < m) *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(d[0], d[1]);
      if (row + 8 < m) {
        *reinterpret_cast<__nv_bfloat162*>(to + 8 * n) = __floats2bfloat162_rn(d[2], d[3]);
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ uint4 shared[];
  __nv_bfloat16* stages_a = reinterpret_cast<__nv_bfloat16*>(shared);
  __nv_bfloat16* stages_b = stages_a + kStages * kStageA;
  const int top = blockIdx.x * kTileM, left = blockIdx.y * kTileN;
  const int warp = threadIdx.x / 32;
  const int warp_top = warp / 4 * 64, warp_left = warp % 4 * 32;
  const int steps = (k + kTileK - 1) / kTileK;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const int stage = step % kStages;
      Fetch(stages_a + stage * kStageA, stages_b + stage * kStageB, a, b, top, left, step * kTileK,
            m, n, k);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  float sum[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();  // this stage is there, and the one before it is read to its end
    fetch(step + kStages - 1);
    const int stage = step % kStages;
    Multiply(sum, stages_a + stage * kStageA + warp_top * kRowA,
             stages_b + stage * kStageB + warp_left);
  }
  Store(c, sum, top + warp_top, left + warp_left, m, n);
}

// Rows that do not begin on 16 bytes: one result a thread, no tensor cores.
extern "C" __global__ void gemm_any(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                    __nv_bfloat16* c, int m, int n, int k) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  const int row = blockIdx.y * 32 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 32) {
    const int i = start + threadIdx.x, j = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] =
        row < m && i < k ? __bfloat162float(a[static_cast<long long>(row) * k + i]) : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        j < k && col < n ? __bfloat162float(b[static_cast<long long>(j) * n + col]) : 0.0f;
    __syncthreads();
    for (int p = 0; p < 32; ++p) sum += tile_a[threadIdx.y][p] * tile_b[p][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[static_cast<long long>(row) * n + col] = __float2bfloat16(sum);
}
