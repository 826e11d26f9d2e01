// Atomics, and loads and stores with a cache hint. Part of cuda_on_cpu.h. All threads share one
// thread of the CPU, so that plain code is atomic; each call may let the others run.
#pragma once

#include "tests/tdd/emulator/cuda_vectors.h"

template <class T, class F>
T kb_atomic(T* at, F change) {
  kb_api->yield();
  T old = *at;
  *at = change(old);
  return old;
}

#define KB_ATOMIC(name, type, parameter, expression)                                       \
  inline type name(type* at, parameter) {                                                  \
    return kb_atomic(at, [&](type old) -> type { return static_cast<type>(expression); }); \
  }                                                                                        \
  inline type name##_block(type* at, parameter) {                                          \
    return kb_atomic(at, [&](type old) -> type { return static_cast<type>(expression); }); \
  }                                                                                        \
  inline type name##_system(type* at, parameter) {                                         \
    return kb_atomic(at, [&](type old) -> type { return static_cast<type>(expression); }); \
  }
#define KB_ATOMIC_INTEGER(type)                                                \
  KB_ATOMIC(atomicAdd, type, type v, old + v)                                  \
  KB_ATOMIC(atomicExch, type, type v, v)                                       \
  KB_ATOMIC(atomicMin, type, type v, old < v ? old : v)                        \
  KB_ATOMIC(atomicMax, type, type v, old > v ? old : v)                        \
  KB_ATOMIC(atomicAnd, type, type v, old& v)                                   \
  KB_ATOMIC(atomicOr, type, type v, old | v)                                   \
  KB_ATOMIC(atomicXor, type, type v, old ^ v)                                  \
  inline type atomicCAS(type* at, type expected, type v) {                     \
    return kb_atomic(at, [&](type old) { return old == expected ? v : old; }); \
  }
KB_ATOMIC_INTEGER(int)
KB_ATOMIC_INTEGER(unsigned)
KB_ATOMIC_INTEGER(unsigned long long)
KB_ATOMIC(atomicMin, long long, long long v, old < v ? old : v)
KB_ATOMIC(atomicMax, long long, long long v, old > v ? old : v)
KB_ATOMIC(atomicSub, int, int v, old - v)
KB_ATOMIC(atomicSub, unsigned, unsigned v, old - v)
KB_ATOMIC(atomicInc, unsigned, unsigned v, old >= v ? 0 : old + 1)
KB_ATOMIC(atomicDec, unsigned, unsigned v, old == 0 || old > v ? v : old - 1)
KB_ATOMIC(atomicAdd, float, float v, old + v)
KB_ATOMIC(atomicAdd, double, double v, old + v)
KB_ATOMIC(atomicExch, float, float v, v)
inline unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short v) {
  return kb_atomic(at, [&](unsigned short old) { return old == expected ? v : old; });
}
inline float2 atomicAdd(float2* at, float2 v) {
  return kb_atomic(at, [&](float2 old) { return float2{old.x + v.x, old.y + v.y}; });
}
inline float4 atomicAdd(float4* at, float4 v) {
  return kb_atomic(at, [&](float4 old) {
    return float4{old.x + v.x, old.y + v.y, old.z + v.z, old.w + v.w};
  });
}
#undef KB_ATOMIC
#undef KB_ATOMIC_INTEGER

#define KB_LOAD(name)   \
  template <class T>    \
  T name(const T* at) { \
    return *at;         \
  }
KB_LOAD(__ldg)
KB_LOAD(__ldca)
KB_LOAD(__ldcg)
KB_LOAD(__ldcs)
KB_LOAD(__ldlu)
KB_LOAD(__ldcv)
#undef KB_LOAD
#define KB_STORE(name)           \
  template <class T, class V>    \
  void name(T* at, V value) {    \
    *at = static_cast<T>(value); \
  }
KB_STORE(__stwb)
KB_STORE(__stcg)
KB_STORE(__stcs)
KB_STORE(__stwt)
#undef KB_STORE
