// Made to be bound by device memory: once with an eighth of each sector used, once well.
#include "case.h"

// Reads and writes one word of each 32-byte sector, as from an array of structs.
extern "C" __global__ void copy_strided(float* out, const float* in, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) out[i * 8] = in[i * 8];
}

extern "C" __global__ void copy_float4(float4* out, const float4* in, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = in[i];
}

void RunCopy() {
  const size_t words = size_t(64) << 20;  // 256 MiB: four times the L2
  float* in = Buffer<float>(words);
  float* out = Buffer<float>(words);
  Profile("copy_strided",
          [&] { copy_strided<<<unsigned(words / 8 / 256), 256>>>(out, in, words / 8); });
  Profile("copy_float4", [&] {
    copy_float4<<<unsigned(words / 4 / 256), 256>>>(reinterpret_cast<float4*>(out),
                                                    reinterpret_cast<float4*>(in), words / 4);
  });
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}
