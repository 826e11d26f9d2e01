// Barriers, votes and shuffles. Part of cuda_on_cpu.h.
#pragma once

#include "tests/tdd/emulator/cuda_words.h"

// ---- the block ----
inline void __syncthreads() {
  unsigned live;
  kb_api->barrier(0, &live);
}
inline int __syncthreads_count(int predicate) {
  unsigned live;
  return static_cast<int>(kb_api->barrier(predicate, &live));
}
inline int __syncthreads_or(int predicate) { return __syncthreads_count(predicate) > 0; }
inline int __syncthreads_and(int predicate) {
  unsigned live;
  unsigned count = kb_api->barrier(predicate, &live);
  return count == live;
}

// ---- the warp ----
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  unsigned present;
  kb_api->gather(mask, 0, &present);
}
inline unsigned __activemask() { return kb_api->active_mask(); }
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  unsigned present, ballot = 0;
  const uint64_t* values = kb_api->gather(mask, predicate != 0, &present);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((present >> lane & 1) != 0 && values[lane] != 0) ballot |= 1u << lane;
  }
  return ballot;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate == 0) == 0;
}

template <class T>
uint64_t kb_to_bits(T value) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
T kb_from_bits(uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  unsigned present, equal = 0;
  const uint64_t* values = kb_api->gather(mask, kb_to_bits(value), &present);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((present >> lane & 1) != 0 && values[lane] == kb_to_bits(value)) equal |= 1u << lane;
  }
  return equal;
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* all) {
  unsigned equal = __match_any_sync(mask, value);
  *all = __all_sync(mask, equal == mask);
  return *all ? mask : 0;
}

// The lane to read from, or one out of range: then a lane keeps its own value.
template <class T>
T kb_shuffle(unsigned mask, T value, int width, int (*source)(int lane, int width, int by),
             int by) {
  unsigned present;
  const uint64_t* values = kb_api->gather(mask, kb_to_bits(value), &present);
  int lane = static_cast<int>(kb_thread->lane);
  int from = source(lane, width, by);
  if (from < 0) return value;
  return kb_from_bits<T>(values[from & 31]);  // of an absent lane: garbage, as on a GPU
}
template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  return kb_shuffle(
      mask, value, width,
      [](int lane, int w, int by) { return (lane & ~(w - 1)) + (by & (w - 1)); }, from);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  return kb_shuffle(
      mask, value, width,
      [](int lane, int w, int d) { return (lane & (w - 1)) >= d ? lane - d : -1; },
      static_cast<int>(by));
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  return kb_shuffle(
      mask, value, width,
      [](int lane, int w, int d) { return (lane & (w - 1)) + d < w ? lane + d : -1; },
      static_cast<int>(by));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int by, int width = 32) {
  return kb_shuffle(
      mask, value, width,
      [](int lane, int w, int d) {
        int from = lane ^ d;
        return from >= (lane & ~(w - 1)) + w ? -1 : from;
      },
      by);
}

template <class T, class F>
T kb_warp_reduce(unsigned mask, T value, F combine) {
  unsigned present;
  const uint64_t* values = kb_api->gather(mask, kb_to_bits(value), &present);
  present &= ~(1u << kb_thread->lane);
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((present >> lane & 1) != 0) value = combine(value, kb_from_bits<T>(values[lane]));
  }
  return value;
}
#define KB_WARP_REDUCE(name, type, expression)                                             \
  inline type __reduce_##name##_sync(unsigned mask, type value) {                          \
    return kb_warp_reduce(mask, value, [](type a, type b) -> type { return expression; }); \
  }
KB_WARP_REDUCE(add, int, a + b)
KB_WARP_REDUCE(add, unsigned, a + b)
KB_WARP_REDUCE(min, int, a < b ? a : b)
KB_WARP_REDUCE(min, unsigned, a < b ? a : b)
KB_WARP_REDUCE(max, int, a > b ? a : b)
KB_WARP_REDUCE(max, unsigned, a > b ? a : b)
KB_WARP_REDUCE(and, unsigned, a& b)
KB_WARP_REDUCE(or, unsigned, a | b)
KB_WARP_REDUCE(xor, unsigned, a ^ b)
#undef KB_WARP_REDUCE

// ---- order of memory, time, ends ----
inline void __threadfence() { kb_api->yield(); }
inline void __threadfence_block() { kb_api->yield(); }
inline void __threadfence_system() { kb_api->yield(); }
inline void __nanosleep(unsigned) { kb_api->yield(); }
inline long long clock64() { return static_cast<long long>(kb_api->nanoseconds()); }
inline int clock() { return static_cast<int>(kb_api->nanoseconds()); }
inline unsigned long long __globaltimer() { return kb_api->nanoseconds(); }
inline void __trap() { kb_api->fail(kb_emulator::kLaunchFailed, "__trap()"); }
inline void __brkpt() { __trap(); }
#undef assert
#define assert(condition) \
  ((condition) ? (void)0 : kb_api->fail(kb_emulator::kAssert, "assert(" #condition ")"))

// ---- asynchronous copies into shared memory: done at once ----
inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
  memcpy(to, from, bytes - zeros);
  memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}
