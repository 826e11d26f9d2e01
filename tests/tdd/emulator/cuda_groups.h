// cooperative_groups: the block, tiles of a warp, and reductions over tiles. Part of
// cuda_on_cpu.h.
#pragma once

#include "tests/tdd/emulator/cuda_warp.h"

namespace cooperative_groups {

class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static uint3 thread_index() { return threadIdx; }
  static uint3 group_index() { return blockIdx; }
  static uint3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() { return {}; }

// Lanes of one warp: a mask, and the width that shuffles stay within.
template <unsigned kSize>
class thread_block_tile {
 public:
  static_assert(kSize <= 32 && (kSize & (kSize - 1)) == 0);
  static unsigned thread_rank() { return kb_thread->lane % kSize; }
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / kSize; }
  static unsigned meta_group_size() { return (thread_block::size() + kSize - 1) / kSize; }
  static unsigned mask() {
    return (kSize == 32 ? ~0u : (1u << kSize % 32) - 1) << (kb_thread->lane & ~(kSize - 1));
  }
  static void sync() { __syncwarp(mask()); }
  static unsigned ballot(int p) {
    return __ballot_sync(mask(), p) >> (kb_thread->lane & ~(kSize - 1));
  }
  static int any(int p) { return ballot(p) != 0; }
  static int all(int p) { return ballot(p == 0) == 0; }
  template <class T>
  static T shfl(T value, unsigned from) {
    return __shfl_sync(mask(), value, static_cast<int>(from), kSize);
  }
  template <class T>
  static T shfl_up(T value, unsigned by) {
    return __shfl_up_sync(mask(), value, by, kSize);
  }
  template <class T>
  static T shfl_down(T value, unsigned by) {
    return __shfl_down_sync(mask(), value, by, kSize);
  }
  template <class T>
  static T shfl_xor(T value, unsigned by) {
    return __shfl_xor_sync(mask(), value, static_cast<int>(by), kSize);
  }
};
template <unsigned kSize, class Parent>
thread_block_tile<kSize> tiled_partition(const Parent&) {
  return {};
}

template <class T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {  // as cooperative_groups has it: the smaller
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <unsigned kSize, class T, class F>
T reduce(const thread_block_tile<kSize>& tile, T value, F combine) {
  for (unsigned by = kSize / 2; by > 0; by /= 2) value = combine(value, tile.shfl_xor(value, by));
  return value;
}

inline void sync(const thread_block& block) { block.sync(); }
template <unsigned kSize>
void sync(const thread_block_tile<kSize>& tile) {
  tile.sync();
}

}  // namespace cooperative_groups
