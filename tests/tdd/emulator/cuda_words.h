// The words of CUDA C++ that g++ lacks, and what the kernels' threads share with the driver. Part
// of cuda_on_cpu.h.
#pragma once

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <array>
#include <cfloat>
#include <climits>
#include <limits>
#include <type_traits>
#include <utility>

#include "tests/tdd/emulator/abi.h"

#define KB_EXPORT extern "C" __attribute__((visibility("default"), used))

static const kb_emulator::Api* kb_api;
static const kb_emulator::Thread* kb_thread;
static kb_emulator::Index kb_block, kb_block_dim, kb_grid_dim;
alignas(4096) static unsigned char kb_dynamic_shared[kb_emulator::kDynamicSharedRoom];
static thread_local unsigned char kb_pad_before[kb_emulator::kPad];

// ---- words of the language ----
#define __device__
#define __host__
#define __constant__
#define __global__ __attribute__((visibility("default"), used))
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict __restrict__
#define __align__(n) __attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __builtin_assume(x) ((void)0)
#define __assume(x) ((void)0)

using uint3 = kb_emulator::Index;
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
#define threadIdx (kb_thread->index)
#define blockIdx kb_block
#define blockDim kb_block_dim
#define gridDim kb_grid_dim
#define warpSize 32
