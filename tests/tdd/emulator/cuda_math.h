// Mathematics and bits. Part of cuda_on_cpu.h. Fast forms are as exact as the plain ones here.
#pragma once

#include "tests/tdd/emulator/cuda_words.h"

#define KB_MIN_MAX(type)                                       \
  constexpr type min(type a, type b) { return b < a ? b : a; } \
  constexpr type max(type a, type b) { return a < b ? b : a; }
KB_MIN_MAX(int)
KB_MIN_MAX(unsigned)
KB_MIN_MAX(long)
KB_MIN_MAX(unsigned long)
KB_MIN_MAX(long long)
KB_MIN_MAX(unsigned long long)
#undef KB_MIN_MAX
// A NaN loses, as fminf and fmaxf have it.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return ::fmin(a, b); }
inline double max(double a, double b) { return ::fmax(a, b); }
inline double min(float a, double b) { return ::fmin(static_cast<double>(a), b); }
inline double max(float a, double b) { return ::fmax(static_cast<double>(a), b); }
inline double min(double a, float b) { return ::fmin(a, static_cast<double>(b)); }
inline double max(double a, float b) { return ::fmax(a, static_cast<double>(b)); }
// CUDA takes mixed integers as unsigned if one is.
constexpr unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
constexpr unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
constexpr unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
constexpr unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
constexpr long long min(int a, long long b) { return min(static_cast<long long>(a), b); }
constexpr long long min(long long a, int b) { return min(a, static_cast<long long>(b)); }
constexpr long long max(int a, long long b) { return max(static_cast<long long>(a), b); }
constexpr long long max(long long a, int b) { return max(a, static_cast<long long>(b)); }

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / ::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline float erfcxf(float x) { return expf(x * x) * erfcf(x); }
inline float sinpif(float x) { return static_cast<float>(::sin(M_PI * static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(::cos(M_PI * static_cast<double>(x))); }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return expf(x); }
inline float __exp10f(float x) { return powf(10.0f, x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }

#define KB_ROUNDED(suffix)                                                          \
  inline float __fadd_##suffix(float a, float b) { return a + b; }                  \
  inline float __fsub_##suffix(float a, float b) { return a - b; }                  \
  inline float __fmul_##suffix(float a, float b) { return a * b; }                  \
  inline float __fdiv_##suffix(float a, float b) { return a / b; }                  \
  inline float __fsqrt_##suffix(float a) { return sqrtf(a); }                       \
  inline float __frcp_##suffix(float a) { return 1.0f / a; }                        \
  inline float __fmaf_##suffix(float a, float b, float c) { return fmaf(a, b, c); } \
  inline double __dadd_##suffix(double a, double b) { return a + b; }               \
  inline double __dmul_##suffix(double a, double b) { return a * b; }               \
  inline double __fma_##suffix(double a, double b, double c) { return ::fma(a, b, c); }
KB_ROUNDED(rn)
KB_ROUNDED(rz)
KB_ROUNDED(ru)
KB_ROUNDED(rd)
#undef KB_ROUNDED
inline float __frsqrt_rn(float a) { return rsqrtf(a); }

// ---- conversions; float to integer saturates and makes 0 of NaN ----
template <class To, class From>
To kb_saturate(From x) {
  if (x != x) return 0;
  constexpr To kLow = static_cast<To>(static_cast<To>(-1) < 0 ? To(1) << (sizeof(To) * 8 - 1) : 0);
  constexpr To kHigh = static_cast<To>(~kLow);
  if (x <= static_cast<From>(kLow)) return kLow;
  if (x >= static_cast<From>(kHigh)) return kHigh;
  return static_cast<To>(x);
}
#define KB_TO_INTEGER(from, type, name, to)                                        \
  inline to __##from##2##name##_rn(type x) { return kb_saturate<to>(::rint(x)); }  \
  inline to __##from##2##name##_rz(type x) { return kb_saturate<to>(::trunc(x)); } \
  inline to __##from##2##name##_ru(type x) { return kb_saturate<to>(::ceil(x)); }  \
  inline to __##from##2##name##_rd(type x) { return kb_saturate<to>(::floor(x)); }
KB_TO_INTEGER(float, float, int, int)
KB_TO_INTEGER(float, float, uint, unsigned)
KB_TO_INTEGER(float, float, ll, long long)
KB_TO_INTEGER(float, float, ull, unsigned long long)
KB_TO_INTEGER(double, double, int, int)
KB_TO_INTEGER(double, double, uint, unsigned)
KB_TO_INTEGER(double, double, ll, long long)
#undef KB_TO_INTEGER
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }

// ---- bits ----
template <class To, class From>
To kb_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
inline int __float_as_int(float x) { return kb_as<int>(x); }
inline unsigned __float_as_uint(float x) { return kb_as<unsigned>(x); }
inline float __int_as_float(int x) { return kb_as<float>(x); }
inline float __uint_as_float(unsigned x) { return kb_as<float>(x); }
inline long long __double_as_longlong(double x) { return kb_as<long long>(x); }
inline double __longlong_as_double(long long x) { return kb_as<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(kb_as<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(kb_as<uint64_t>(x)); }
inline double __hiloint2double(int high, int low) {
  return kb_as<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                       static_cast<unsigned>(low));
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned y = 0;
  for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
  return y;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  uint64_t bytes = static_cast<uint64_t>(high) << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned pick = selector >> (4 * i);
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (pick & 7)) & 0xff);
    if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}
inline int __mul24(int a, int b) { return a * b; }
inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
inline unsigned __sad(int a, int b, unsigned c) {
  return c + static_cast<unsigned>(a > b ? a - b : b - a);
}
inline int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) {
    c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  }
  return c;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
  return c;
}
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
