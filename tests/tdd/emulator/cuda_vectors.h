// float4, make_int2 and their like, sized and aligned as CUDA has them. Part of cuda_on_cpu.h.
#pragma once

#include "tests/tdd/emulator/cuda_words.h"

#define KB_VECTORS(element, name, align2, align4)                                         \
  struct name##1 {                                                                        \
    element x;                                                                            \
  };                                                                                      \
  struct alignas(align2) name##2 {                                                        \
    element x, y;                                                                         \
  };                                                                                      \
  struct name##3 {                                                                        \
    element x, y, z;                                                                      \
  };                                                                                      \
  struct alignas(align4) name##4 {                                                        \
    element x, y, z, w;                                                                   \
  };                                                                                      \
  constexpr name##1 make_##name##1(element x) { return {x}; }                             \
  constexpr name##2 make_##name##2(element x, element y) { return {x, y}; }               \
  constexpr name##3 make_##name##3(element x, element y, element z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(element x, element y, element z, element w) {          \
    return {x, y, z, w};                                                                  \
  }

KB_VECTORS(signed char, char, 2, 4)
KB_VECTORS(unsigned char, uchar, 2, 4)
KB_VECTORS(short, short, 4, 8)
KB_VECTORS(unsigned short, ushort, 4, 8)
KB_VECTORS(int, int, 8, 16)
KB_VECTORS(long long, longlong, 16, 16)
KB_VECTORS(unsigned long long, ulonglong, 16, 16)
KB_VECTORS(float, float, 8, 16)
KB_VECTORS(double, double, 16, 16)
#undef KB_VECTORS

struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
constexpr uint1 make_uint1(unsigned x) { return {x}; }
constexpr uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
constexpr uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
constexpr uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
