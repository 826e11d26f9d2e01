// Matrix products whose operands never move: the tensor cores are all there is.
#include "case.h"

__device__ __forceinline__ void Mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
      "{%8,%9}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void tensor_mma_bf16(float* out, const unsigned* in, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float d[8][4] = {};
  unsigned a[4], b[2];
  for (int k = 0; k < 4; ++k) a[k] = in[i + k];
  for (int k = 0; k < 2; ++k) b[k] = in[i + 4 + k];
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 8; ++k) Mma(d[k], a, b);
  }
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += d[k][0] + d[k][1] + d[k][2] + d[k][3];
  out[i] = sum;
}

// Both operands in shared memory, 8 x 16-byte core matrices without swizzle.
__device__ __forceinline__ std::uint64_t Descriptor(const void* shared, unsigned leading,
                                                    unsigned stride) {
  const std::uint64_t address = __cvta_generic_to_shared(shared);
  return ((address & 0x3ffff) >> 4) | std::uint64_t(leading >> 4) << 16 |
         std::uint64_t(stride >> 4) << 32;
}

__device__ __forceinline__ void Wgmma(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,"
      "%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,"
      "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,"
      "%59,%60,%61,%62,%63"
      "}, %64, %65, 1, 1, 1, 0, 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63])
      : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(128)
    tensor_wgmma_bf16(float* out, const unsigned* in, int rounds) {
  __shared__ alignas(128) unsigned a[64 * 16 / 2];
  __shared__ alignas(128) unsigned b[128 * 16 / 2];
  for (int k = threadIdx.x; k < 64 * 16 / 2; k += 128) a[k] = in[k];
  for (int k = threadIdx.x; k < 128 * 16 / 2; k += 128) b[k] = in[k + 512];
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
  __syncthreads();
  float d[64] = {};
  const std::uint64_t at = Descriptor(a, 1024, 128), bt = Descriptor(b, 2048, 128);
  for (int r = 0; r < rounds; ++r) {
    asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
#pragma unroll
    for (int k = 0; k < 8; ++k) Wgmma(d, at, bt);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" ::
                     : "memory");
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 64; ++k) sum += d[k];
  out[blockIdx.x * 128 + threadIdx.x] = sum;
}

void RunTensor() {
  const int threads = 132 * 1024 * 2;
  unsigned* in = Buffer<unsigned>(threads + 8);
  float* out = Buffer<float>(threads);
  Profile("tensor_mma_bf16", [&] { tensor_mma_bf16<<<threads / 256, 256>>>(out, in, 512); });
  Profile("tensor_wgmma_bf16", [&] { tensor_wgmma_bf16<<<threads / 128, 128>>>(out, in, 128); });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
