// __half, __nv_bfloat16, their pairs and what is usually done with them. Each operation is done
// in float and rounded to nearest even, as CUDA defines them. Part of cuda_on_cpu.h.
#pragma once

#include "tests/tdd/emulator/cuda_atomics.h"
#include "tests/tdd/emulator/cuda_math.h"
#include "tests/tdd/emulator/cuda_vectors.h"

inline unsigned short kb_bf16_bits(float x) {
  unsigned bits = __float_as_uint(x);
  if (x != x) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
inline float kb_bf16_value(unsigned short bits) {
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
}
inline unsigned short kb_half_bits(float x) {
  unsigned sign = __float_as_uint(x) >> 16 & 0x8000;
  float a = fabsf(x);
  if (x != x) return 0x7fff;
  if (a >= 65520.0f) return static_cast<unsigned short>(sign | 0x7c00);
  if (a < 6.103515625e-05f) {  // subnormal: multiples of 2^-24
    return static_cast<unsigned short>(sign | static_cast<unsigned>(rintf(a * 16777216.0f)));
  }
  unsigned bits = __float_as_uint(a);
  bits += 0xfff + (bits >> 13 & 1);
  return static_cast<unsigned short>(sign | ((bits - (112u << 23)) >> 13));
}
inline float kb_half_value(unsigned short h) {
  unsigned exponent = h >> 10 & 31, fraction = h & 0x3ff;
  float a = exponent == 0    ? static_cast<float>(fraction) * 5.9604644775390625e-08f
            : exponent == 31 ? __uint_as_float(0x7f800000u | fraction << 13)
                             : __uint_as_float((exponent + 112) << 23 | fraction << 13);
  return (h & 0x8000) != 0 ? -a : a;
}

#define KB_HALF_TYPE(type, type2, raw, to_bits, to_value)                                    \
  struct raw {                                                                               \
    unsigned short x;                                                                        \
  };                                                                                         \
  struct alignas(2) type {                                                                   \
    unsigned short kb_bits;                                                                  \
    type() = default;                                                                        \
    type(float x) : kb_bits(to_bits(x)) {}                                                   \
    type(double x) : kb_bits(to_bits(static_cast<float>(x))) {}                              \
    type(int x) : kb_bits(to_bits(static_cast<float>(x))) {}                                 \
    type(unsigned x) : kb_bits(to_bits(static_cast<float>(x))) {}                            \
    type(raw x) : kb_bits(x.x) {}                                                            \
    operator float() const { return to_value(kb_bits); }                                     \
    operator raw() const { return {kb_bits}; }                                               \
  };                                                                                         \
  struct alignas(4) type2 {                                                                  \
    type x, y;                                                                               \
    type2() = default;                                                                       \
    type2(type a, type b) : x(a), y(b) {}                                                    \
  };                                                                                         \
  inline type operator+(type a, type b) { return type(float(a) + float(b)); }                \
  inline type operator-(type a, type b) { return type(float(a) - float(b)); }                \
  inline type operator*(type a, type b) { return type(float(a) * float(b)); }                \
  inline type operator/(type a, type b) { return type(float(a) / float(b)); }                \
  inline type operator-(type a) { return type(-float(a)); }                                  \
  inline type& operator+=(type& a, type b) { return a = a + b; }                             \
  inline type& operator-=(type& a, type b) { return a = a - b; }                             \
  inline type& operator*=(type& a, type b) { return a = a * b; }                             \
  inline type& operator/=(type& a, type b) { return a = a / b; }                             \
  inline bool operator<(type a, type b) { return float(a) < float(b); }                      \
  inline bool operator>(type a, type b) { return float(a) > float(b); }                      \
  inline bool operator<=(type a, type b) { return float(a) <= float(b); }                    \
  inline bool operator>=(type a, type b) { return float(a) >= float(b); }                    \
  inline bool operator==(type a, type b) { return float(a) == float(b); }                    \
  inline bool operator!=(type a, type b) { return float(a) != float(b); }                    \
  inline type __hadd(type a, type b) { return a + b; }                                       \
  inline type __hsub(type a, type b) { return a - b; }                                       \
  inline type __hmul(type a, type b) { return a * b; }                                       \
  inline type __hdiv(type a, type b) { return a / b; }                                       \
  inline type __hfma(type a, type b, type c) { return type(fmaf(a, b, c)); }                 \
  inline type __hneg(type a) { return -a; }                                                  \
  inline type __habs(type a) { return type(fabsf(a)); }                                      \
  inline type __hmax(type a, type b) { return type(fmaxf(a, b)); }                           \
  inline type __hmin(type a, type b) { return type(fminf(a, b)); }                           \
  inline bool __hlt(type a, type b) { return a < b; }                                        \
  inline bool __hgt(type a, type b) { return a > b; }                                        \
  inline bool __hle(type a, type b) { return a <= b; }                                       \
  inline bool __hge(type a, type b) { return a >= b; }                                       \
  inline bool __heq(type a, type b) { return a == b; }                                       \
  inline bool __hne(type a, type b) { return a != b; }                                       \
  inline bool __hisnan(type a) { return float(a) != float(a); }                              \
  inline int __hisinf(type a) { return fabsf(a) == INFINITY ? (float(a) > 0 ? 1 : -1) : 0; } \
  inline type hexp(type a) { return type(expf(a)); }                                         \
  inline type hlog(type a) { return type(logf(a)); }                                         \
  inline type hsqrt(type a) { return type(sqrtf(a)); }                                       \
  inline type hrsqrt(type a) { return type(rsqrtf(a)); }                                     \
  inline type hrcp(type a) { return type(1.0f / float(a)); }                                 \
  inline type2 operator+(type2 a, type2 b) { return {a.x + b.x, a.y + b.y}; }                \
  inline type2 operator-(type2 a, type2 b) { return {a.x - b.x, a.y - b.y}; }                \
  inline type2 operator*(type2 a, type2 b) { return {a.x * b.x, a.y * b.y}; }                \
  inline type2& operator+=(type2& a, type2 b) { return a = a + b; }                          \
  inline type2& operator*=(type2& a, type2 b) { return a = a * b; }                          \
  inline type2 __hadd2(type2 a, type2 b) { return a + b; }                                   \
  inline type2 __hsub2(type2 a, type2 b) { return a - b; }                                   \
  inline type2 __hmul2(type2 a, type2 b) { return a * b; }                                   \
  inline type2 __hfma2(type2 a, type2 b, type2 c) {                                          \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                   \
  }                                                                                          \
  inline type2 __hmax2(type2 a, type2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }    \
  inline type2 __hmin2(type2 a, type2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }    \
  inline type2 __hneg2(type2 a) { return {-a.x, -a.y}; }                                     \
  inline type2 __habs2(type2 a) { return {__habs(a.x), __habs(a.y)}; }                       \
  inline float __low2float(type2 a) { return a.x; }                                          \
  inline float __high2float(type2 a) { return a.y; }                                         \
  inline type atomicAdd(type* at, type v) {                                                  \
    return kb_atomic(at, [&](type old) { return old + v; });                                 \
  }                                                                                          \
  inline type2 atomicAdd(type2* at, type2 v) {                                               \
    return kb_atomic(at, [&](type2 old) { return old + v; });                                \
  }

KB_HALF_TYPE(__half, __half2, __half_raw, kb_half_bits, kb_half_value)
KB_HALF_TYPE(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, kb_bf16_bits, kb_bf16_value)
#undef KB_HALF_TYPE
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// The same with the names that hold the type's own: word is half | bfloat16.
#define KB_HALF_WORDS(word, type, type2)                                               \
  inline type __float2##word(float x) { return type(x); }                              \
  inline type __float2##word##_rn(float x) { return type(x); }                         \
  inline type __double2##word(double x) { return type(x); }                            \
  inline float __##word##2float(type x) { return x; }                                  \
  inline type __int2##word##_rn(int x) { return type(x); }                             \
  inline int __##word##2int_rn(type x) { return __float2int_rn(x); }                   \
  inline int __##word##2int_rz(type x) { return __float2int_rz(x); }                   \
  inline type __##word##_from_bits(unsigned short x) {                                 \
    type made;                                                                         \
    made.kb_bits = x;                                                                  \
    return made;                                                                       \
  }                                                                                    \
  inline type __ushort_as_##word(unsigned short x) { return __##word##_from_bits(x); } \
  inline type __short_as_##word(short x) {                                             \
    return __##word##_from_bits(static_cast<unsigned short>(x));                       \
  }                                                                                    \
  inline unsigned short __##word##_as_ushort(type x) { return x.kb_bits; }             \
  inline short __##word##_as_short(type x) { return static_cast<short>(x.kb_bits); }
KB_HALF_WORDS(half, __half, __half2)
KB_HALF_WORDS(bfloat16, __nv_bfloat16, __nv_bfloat162)
#undef KB_HALF_WORDS
#define KB_HALF_PAIRS(word, type, type2)                                              \
  inline type2 __floats2##word##2_rn(float a, float b) { return {type(a), type(b)}; } \
  inline type2 __float22##word##2_rn(float2 a) { return {type(a.x), type(a.y)}; }     \
  inline type2 __float2##word##2_rn(float a) { return {type(a), type(a)}; }           \
  inline float2 __##word##22float2(type2 a) { return {a.x, a.y}; }                    \
  inline type2 __##word##2##word##2(type a) { return {a, a}; }                        \
  inline type2 make_##word##2(type a, type b) { return {a, b}; }                      \
  inline type __low2##word(type2 a) { return a.x; }                                   \
  inline type __high2##word(type2 a) { return a.y; }
KB_HALF_PAIRS(half, __half, __half2)
KB_HALF_PAIRS(bfloat16, __nv_bfloat16, __nv_bfloat162)
#undef KB_HALF_PAIRS
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
