// A tile of 128 x 256 a block. Warp 8 lets the tensor copy engine fill a ring of 4 stages of
// k = 64; warps 0-3 and 4-7 are two warpgroups that multiply 64 rows each. A stage is handed over
// by a barrier `full` (its bytes have arrived), and back by `empty` (eight warps have read it).
#include <cuda_bf16.h>

constexpr int kTileM = 128, kTileN = 256, kTileK = 64;
constexpr int kStages = 4;
constexpr int kConsumers = 256;  // threads
constexpr int kThreads = kConsumers + 32;
constexpr unsigned kBoxBytes = 64 * 64 * 2;  // 64 rows of 128 bytes
constexpr unsigned kBytesA = kTileM * kTileK * 2, kBytesB = kTileK * kTileN * 2;
constexpr unsigned kStageBytes = kBytesA + kBytesB;

struct alignas(64) TensorMap {
  unsigned long long words[16];
};

__device__ unsigned Shared(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void Init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ void ArriveExpecting(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ void Arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Until the phase of this parity is over. A new barrier counts as just after a phase of parity 1.
__device__ void Wait(unsigned barrier, unsigned parity) {
  unsigned over;
  do {
    asm volatile(
        "{\n.reg .pred over;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
        "selp.u32 %0, 1, 0, over;\n}"
        : "=r"(over)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (over == 0);
}

// Copies the map's box at column x, row y. What lies outside the matrix becomes 0, and counts.
__device__ void FetchBox(unsigned to, const TensorMap& map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

// A tile in shared memory with the 128-byte swizzle. `leading`: from 64 columns of B to the next 64
// (not used for A, whose rows run along k); eight rows of 128 bytes are 1024 bytes apart.
__device__ unsigned long long Descriptor(unsigned address, unsigned leading) {
  return static_cast<unsigned long long>((address & 0x3ffffu) >> 4) |
         static_cast<unsigned long long>(leading >> 4) << 16 |
         static_cast<unsigned long long>(1024 >> 4) << 32 | 1ull << 62;
}

// d = A (64 x 16, rows along k) B (16 x 256, rows along n), by the whole warpgroup; d is added to
// it if `add` is not 0.
__device__ void MultiplyAdd(float (&d)[128], unsigned long long a, unsigned long long b, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "
      "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, "
      "%42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, "
      "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, "
      "%70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, "
      "%84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, "
      "%98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "
      "%126, %127}, "
      "%128, %129, add, 1, 1, 0, 1;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b), "r"(add));
}

__device__ void Produce(const TensorMap& map_a, const TensorMap& map_b, unsigned stages,
                        unsigned full, unsigned empty, int top, int left, int steps) {
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    const unsigned to = stages + stage * kStageBytes, barrier = full + 8 * stage;
    Wait(empty + 8 * stage, step / kStages % 2 ^ 1);
    ArriveExpecting(barrier, kStageBytes);
    FetchBox(to, map_a, step * kTileK, top, barrier);
#pragma unroll
    for (int j = 0; j < kTileN / 64; ++j) {
      FetchBox(to + kBytesA + j * kBoxBytes, map_b, left + j * 64, step * kTileK, barrier);
    }
  }
}

// `group`: which 64 rows of the tile. One product stays under way while the next is issued; the
// stage before is handed back as soon as its product is done.
__device__ void Consume(float (&sum)[128], unsigned stages, unsigned full, unsigned empty,
                        int group, int steps) {
  for (int step = 0; step < steps; ++step) {
    const int stage = step % kStages;
    const unsigned a = stages + stage * kStageBytes + group * kBoxBytes;
    const unsigned b = stages + stage * kStageBytes + kBytesA;
    Wait(full + 8 * stage, step / kStages % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int part = 0; part < kTileK / 16; ++part) {
      MultiplyAdd(sum, Descriptor(a + part * 32, 16), Descriptor(b + part * 2048, kBoxBytes),
                  step + part);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (step > 0 && threadIdx.x % 32 == 0) Arrive(empty + 8 * ((step - 1) % kStages));
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
  for (float& value : sum) asm volatile("" : "+f"(value)::"memory");  // not read any earlier
}

// Lane l of a warp holds columns 2 (l % 4), + 1 of its rows l / 4 and l / 4 + 8, in steps of 8.
__device__ void Store(__nv_bfloat16* c, const float (&sum)[128], int top, int left, int m, int n) {
  const int lane = threadIdx.x % 32;
  const int row = top + threadIdx.x / 32 * 16 + lane / 4;
#pragma unroll
  for (int j = 0; j < kTileN / 8; ++j) {
    const int col = left + j * 8 + lane % 4 * 2;
    if (col >= n) break;
    __nv_bfloat16* to = c + static_cast<long long>(row) * n + col;
    if (row < m) {
      *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(sum[4 * j], sum[4 * j + 1]);
    }
    if (row + 8 < m) {
      *reinterpret_cast<__nv_bfloat162*>(to + 8ll * n) =
          __floats2bfloat162_rn(sum[4 * j + 2], sum[4 * j + 3]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
         __nv_bfloat16* c, int m, int n, int k) {
  extern __shared__ unsigned char shared[];
  __shared__ unsigned long long barriers[2 * kStages];
  const unsigned stages = (Shared(shared) + 1023u) & ~1023u;  // the swizzle counts from here
  const unsigned full = Shared(barriers), empty = full + 8 * kStages;
  const int top = blockIdx.x * kTileM, left = blockIdx.y * kTileN;
  const int steps = (k + kTileK - 1) / kTileK;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      Init(full + 8 * s, 1);
      Init(empty + 8 * s, kConsumers / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x == kConsumers) {
      Produce(map_a, map_b, stages, full, empty, top, left, steps);
    }
    return;
  }
  float sum[128];  // the first product overwrites it
  Consume(sum, stages, full, empty, threadIdx.x / 128, steps);
  Store(c, sum, top, left, m, n);
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
