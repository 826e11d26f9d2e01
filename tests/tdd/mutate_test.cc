#include "tdd/mutate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tdd/cuda_lexer.h"
#include "tdd/toolchain.h"

namespace kb {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

constexpr size_t kAll = 100000;

// The body stands alone on line 2.
std::string InBody(const std::string& body) { return "__global__ void F() {\n" + body + "\n}\n"; }

std::vector<std::string> Nows(const std::string& source, const std::string& operation) {
  std::vector<std::string> nows;
  for (const Mutant& mutant : MutateSource(source, kAll)) {
    if (mutant.operation == operation) nows.push_back(mutant.now);
  }
  return nows;
}

// ---- each operation: the body, and all that becomes of it ----

struct Planted {
  const char* operation;
  const char* body;
  std::vector<std::string> nows;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.body; }

class EachOperation : public ::testing::TestWithParam<Planted> {};

TEST_P(EachOperation, PlantsTheseFaultsAndNoOthers) {
  const Planted& p = GetParam();
  EXPECT_THAT(Nows(InBody(p.body), p.operation), UnorderedElementsAreArray(p.nows));
}

const Planted kArithmetic[] = {
    {"arithmetic", "y = a + b;", {"y = a - b;"}},
    {"arithmetic", "y = a - b;", {"y = a + b;"}},
    {"arithmetic", "y = a * b;", {"y = a + b;"}},
    {"arithmetic", "y = a / b;", {"y = a * b;"}},
    {"arithmetic", "y = a % b;", {"y = a / b;"}},
    {"arithmetic", "y = f(a) * c[1];", {"y = f(a) + c[1];"}},
    {"arithmetic", "y += a;", {"y -= a;"}},
    {"arithmetic", "y -= a;", {"y += a;"}},
    {"arithmetic", "y *= a;", {"y += a;"}},
    {"arithmetic", "++count[i];", {"--count[i];"}},
    {"arithmetic", "y = expf(-x);", {"y = expf(+x);"}},
    {"arithmetic", "y = min(a, b);", {"y = max(a, b);"}},
    {"arithmetic", "y = fmaxf(a, b);", {"y = fminf(a, b);"}},
    {"arithmetic", "y = fmaf(a, b, c);", {"y = fmaf(- a, b, c);"}},
    {"arithmetic", "y = (float)x * z;", {"y = (float)x + z;"}},
    {"arithmetic", "y = static_cast<int64_t>(r) * n;", {"y = static_cast<int64_t>(r) + n;"}},
    {"arithmetic", "y = sizeof(float) * n;", {"y = sizeof(float) + n;"}},
    // Stars, ampersands and signs that are no operators.
    {"arithmetic", "float* p = x; const T *q = x; Row* r = f(); T* t;", {}},
    {"arithmetic", "y = *p; *p = 1; if (ok) *p = 1; y = &z; y = (float)*p;", {}},
    {"arithmetic", "auto* p = reinterpret_cast<const float4*>(x); y = (T*)x;", {}},
    {"arithmetic", "m = -INFINITY; int z = -1;", {"m = -INFINITY; int z = +1;"}},
    // What is no code.
    {"arithmetic", "// a + b", {}},
    {"arithmetic", "/* a + b */ f(\"a + b\"); g('+'); s = R\"x(a + b)\" + )x\";", {}},
    {"arithmetic", "#pragma unroll (4 + 4)", {}},
    {"arithmetic", "  #define F(a, b) \\\n  (a + b)", {}},
    {"arithmetic", "__shared__ float tile[32][32 + 1]; float acc[2 * N]; int t = f<N / 2>(x);", {}},
    {"arithmetic", "static_assert(N % 2 == 0); constexpr int kN = 2 * N; assert(a + b);", {}},
    {"arithmetic", "asm volatile(\"x;\" :: \"r\"(a + b));", {}},
    // A loop's step, or what moves a while on, is not turned back.
    {"arithmetic",
     "for (int i = a + b; i < n; i += c * d) f();",
     {"for (int i = a - b; i < n; i += c * d) f();"}},
    {"arithmetic",
     "while (lo < hi) { lo = mid + 1; y = a + 1; }",
     {"while (lo < hi) { lo = mid + 1; y = a - 1; }"}},
};
INSTANTIATE_TEST_SUITE_P(Arithmetic, EachOperation, ::testing::ValuesIn(kArithmetic));

const Planted kComparison[] = {
    {"comparison", "if (i < n) f();", {"if (i <= n) f();"}},
    {"comparison", "if (i <= n) f();", {"if (i < n) f();"}},
    {"comparison", "if (i > n) f();", {"if (i >= n) f();"}},
    {"comparison", "if (i >= n) f();", {"if (i > n) f();"}},
    {"comparison", "if (i == n) f();", {"if (i != n) f();"}},
    {"comparison", "ok = a && b;", {"ok = a || b;"}},
    {"comparison", "f<T>(x); Pair<int, 3> p; a = b << 2 >> c; g<<<1, 2>>>();", {}},
    {"comparison", "std::array<Pair<int, 2>, 3> a;", {}},
    {"comparison", "while (i != n) f();", {}},
    {"comparison", "for (;i < n;) f();", {}},
    // The same, whichever it is.
    {"comparison", "y = a < b ? a : b; z = a[i] > c.x ? c.x : a[i]; if (v > best) best = v;", {}},
    {"comparison", "y = a < b ? a : c;", {"y = a <= b ? a : c;"}},
};
INSTANTIATE_TEST_SUITE_P(Comparison, EachOperation, ::testing::ValuesIn(kComparison));

const Planted kConstant[] = {
    {"constant", "float sum = 0.0f;", {"float sum = 1.0f;"}},
    {"constant", "float a = 0.f, b = 0;", {"float a = 1.0f, b = 0;", "float a = 0.f, b = 1;"}},
    {"constant", "int k = 10;", {}},
    {"constant", "float m = -INFINITY;", {"float m = 0.0f;"}},
    {"constant", "float m = -1e30f;", {"float m = 0.0f;"}},
    {"constant", "float m = __int_as_float(0xff800000u);", {"float m = 0.0f;"}},
    {"constant", "m = kNegInf; n = kNegInf(3);", {"m = 0.0f; n = kNegInf(3);"}},
    {"constant",
     "v = __shfl_xor_sync(0xffffffff, v, 16);",
     {"v = __shfl_xor_sync(0xffffffff, v, 8);"}},
    {"constant", "v = __shfl_down_sync(m, f(v, w), 1);", {"v = __shfl_down_sync(m, f(v, w), 2);"}},
    {"constant", "v = __shfl_sync(m, v, lane);", {}},
    {"constant", "lane = threadIdx.x & 31;", {"lane = threadIdx.x & 15;"}},
    {"constant", "lane = threadIdx.x & 0x1fu;", {"lane = threadIdx.x & 15;"}},
};
INSTANTIATE_TEST_SUITE_P(Constant, EachOperation, ::testing::ValuesIn(kConstant));

const Planted kLoopBound[] = {
    {"loop-bound",
     "for (int i = t; i < n; i += s) f();",
     {"for (int i = 1 + t; i < n; i += s) f();", "for (int i = t; i < -1 + n; i += s) f();",
      "for (int i = t; i <= n; i += s) f();", "for (int i = t; i < n; i += 1 + s) f();"}},
    {"loop-bound",
     "for (int i = n; i >= 0; --i) f();",
     {"for (int i = 1 + n; i >= 0; --i) f();", "for (int i = n; i >= 1 + 0; --i) f();",
      "for (int i = n; i > 0; --i) f();", "for (int i = n; i >= 0; i -= 2) f();"}},
    // "o >= 0" would never end; nor a step past "!=".
    {"loop-bound",
     "for (int o = 16; o > 0; o >>= 1) f();",
     {"for (int o = 16 / 2; o > 0; o >>= 1) f();", "for (int o = 16; o > 1 + 0; o >>= 1) f();",
      "for (int o = 16; o > 0; o >>= 2) f();"}},
    {"loop-bound",
     "for (auto p = a; p != b; ++p) f();",
     {"for (auto p = 1 + a; p != b; ++p) f();"}},
    {"loop-bound", "while (i < n) i += s;", {"while (i < -1 + n) i += s;"}},
    {"loop-bound", "for (;;) f(); while (true) g(); for (int x : a) h();", {}},
};
INSTANTIATE_TEST_SUITE_P(LoopBound, EachOperation, ::testing::ValuesIn(kLoopBound));

const Planted kSync[] = {
    {"dropped-sync", "__syncthreads();", {";"}},
    {"dropped-sync", "if (a) __syncwarp(m);", {"if (a) ;"}},
    {"dropped-sync", "__threadfence_block();", {";"}},
    {"dropped-sync", "block.sync(); cg::sync(block);", {"; cg::sync(block);", "block.sync(); ;"}},
    {"dropped-sync", "CpAsyncWait<1>();", {";"}},
    {"dropped-sync", "ptx::MbarrierWait(bar, phase);", {";"}},
    {"dropped-sync", "asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");", {";"}},
    {"dropped-sync", "asm volatile(\"bar.sync 1, 128;\");", {";"}},
    {"dropped-sync", "asm volatile(\"mbarrier.try_wait p;\" : \"=r\"(done) : \"r\"(x));", {}},
    {"dropped-sync",
     "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\" :: \"r\"(a));",
     {}},
    {"dropped-sync", "CpAsync(a, b); barrier_init(b, 1); MbarrierArrive(b);", {}},
    {"dropped-sync", "int any = __syncthreads_or(x); while (!TryWait(b)) {}", {}},
};
INSTANTIATE_TEST_SUITE_P(DroppedSync, EachOperation, ::testing::ValuesIn(kSync));

const Planted kGuard[] = {
    {"dropped-guard", "if (i < n) y[i] = 1;", {"if (true) y[i] = 1;"}},
    {"dropped-guard", "if (r < m && c < n) { f(); }", {"if (true) { f(); }"}},
    {"dropped-guard", "if (i >= n) return;", {"if (false) return;"}},
    {"dropped-guard", "if (i >= n) { continue; }", {"if (false) { continue; }"}},
    {"dropped-guard", "if (i >= n) break;", {}},
    {"dropped-guard", "if (lane == 0) f(); if (ok) g(); if constexpr (N < 3) h();", {}},
    {"dropped-guard", "v = i < n ? x[i] : 0.0f;", {"v = true ? x[i] : 0.0f;"}},
    {"dropped-guard", "f(a, lane < w ? b : 0);", {"f(a, true ? b : 0);"}},
};
INSTANTIATE_TEST_SUITE_P(DroppedGuard, EachOperation, ::testing::ValuesIn(kGuard));

const Planted kSwapped[] = {
    {"swapped-index", "i = threadIdx.x;", {"i = threadIdx.y;"}},
    {"swapped-index", "i = blockIdx.y;", {"i = blockIdx.x;"}},
    {"swapped-index", "y = tile[a][b + 1];", {"y = tile[b + 1][a];"}},
    {"swapped-index", "float tile[4][8];", {}},
    {"swapped-index", "y = x[row * n + col];", {"y = x[col * n + row];"}},
    {"swapped-index",
     "y = x[static_cast<int64_t>(row) * p.n + col];",
     {"y = x[static_cast<int64_t>(col) * p.n + row];"}},
    {"swapped-index", "y = x[i * n + f(i)];", {}},
};
INSTANTIATE_TEST_SUITE_P(SwappedIndex, EachOperation, ::testing::ValuesIn(kSwapped));

const Planted kNarrowed[] = {
    {"narrowed-accumulator",
     "float s = 0; for (;;) s += x[i] * y;",
     {"float s = 0; for (;;) s = __uint_as_float((__float_as_uint(s + (x[i] * y)) + 0x1000u) & "
      "0xffffe000u);"}},
    {"narrowed-accumulator",
     "float s[2]; for (;;) { s[k] = fmaf(a, b, s[k]); }",
     {"float s[2]; for (;;) { s[k] = __uint_as_float((__float_as_uint(fmaf(a, b, s[k])) + "
      "0x1000u) & 0xffffe000u); }"}},
    {"narrowed-accumulator",
     "double s; for (;;) s += x;",
     {"double s; for (;;) s = static_cast<float>(s + (x));"}},
    {"narrowed-accumulator", "float s; for (;;) s += __shfl_xor_sync(m, s, 1);", {}},
    {"narrowed-accumulator", "float s; s += x; int i; for (;;) i += 2;", {}},
    {"narrowed-accumulator", "float m; for (;;) m = fmaxf(m, x + y);", {}},
};
INSTANTIATE_TEST_SUITE_P(NarrowedAccumulator, EachOperation, ::testing::ValuesIn(kNarrowed));

const Planted kScale[] = {
    {"dropped-scale", "y = x * scale;", {"y = x ;"}},
    {"dropped-scale", "y = x * inv_rms[r] * w[c];", {"y = x  * w[c];", "y = x * inv_rms[r] ;"}},
    {"dropped-scale", "y = s / n;", {"y = s ;"}},
    {"dropped-scale", "y = 1.0f / (1.0f + expf(z));", {"y = 1.0f ;"}},
    {"dropped-scale", "r = rsqrtf(v);", {"r = (v);"}},
    {"dropped-scale",
     "v *= scale; u *= t; z /= n;",
     {"v ; u *= t; z /= n;", "v *= scale; u *= t; z ;"}},
    {"dropped-scale", "y = x * other;", {}},
};
INSTANTIATE_TEST_SUITE_P(DroppedScale, EachOperation, ::testing::ValuesIn(kScale));

const Planted kOffByOne[] = {
    {"off-by-one", "y[i] = x[2 * i];", {"y[1 + i] = x[2 * i];", "y[i] = x[1 + 2 * i];"}},
    {"off-by-one", "float a[4]; auto f = [&](int k) { return k; };", {}},
    {"off-by-one", "y = x[a ? b : c];", {}},
};
INSTANTIATE_TEST_SUITE_P(OffByOne, EachOperation, ::testing::ValuesIn(kOffByOne));

// ---- whole files ----

constexpr char kSoftmax[] = R"(// Rows: x < y and a + b here are words.
#include <cuda_bf16.h>
#define BLOCK 256
constexpr int kWarps = BLOCK / 32;

template <typename T, int kN = 2>
__device__ __forceinline__ T WarpSum(T v) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) v += __shfl_xor_sync(0xffffffffu, v, offset);
  return v;
}

struct Shape {
  int rows = 1 + 1;
};

extern "C" __global__ void __launch_bounds__(BLOCK)
    softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* y, int rows, int cols, float scale) {
  __shared__ float part[kWarps + 1];
  const int row = blockIdx.x;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  if (row >= rows) return;
  const __nv_bfloat16* in = x + static_cast<long>(row) * cols;
  float m = -3.0e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += BLOCK) m = fmaxf(m, __bfloat162float(in[c]) * scale);
  part[warp] = m;
  __syncthreads();
  for (int w = 0; w < kWarps; ++w) m = fmaxf(m, part[w]);
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    sum += __expf(__bfloat162float(in[c]) * scale - m);
  }
  sum = WarpSum<float>(sum);
  __syncthreads();
  if (lane == 0) part[warp] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < kWarps; ++w) sum += part[w];
  for (int c = threadIdx.x; c < cols; c += BLOCK) {
    y[static_cast<long>(row) * cols + c] =
        __float2bfloat16(__expf(__bfloat162float(in[c]) * scale - m) / sum);
  }
}
)";

int LinesOf(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

// The original, from a mutant and its diff alone.
std::string Reversed(const Mutant& mutant) {
  std::string minus, plus;
  size_t at = 0;
  while (at <= mutant.diff.size()) {
    const size_t end = std::min(mutant.diff.find('\n', at), mutant.diff.size());
    std::string& side = mutant.diff[at] == '-' ? minus : plus;
    side += mutant.diff.substr(at + 1, end - at - 1) + "\n";
    at = end + 1;
  }
  size_t begin = 0;
  for (int line = 1; line < mutant.line; ++line) begin = mutant.source.find('\n', begin) + 1;
  plus.pop_back();
  minus.pop_back();
  EXPECT_EQ(mutant.source.substr(begin, plus.size()), plus) << mutant.name;
  return mutant.source.substr(0, begin) + minus + mutant.source.substr(begin + plus.size());
}

TEST(MutateSource, EachMutantDiffersWhereItSaysAndNowhereElse) {
  std::set<std::string> names, sources;
  const std::vector<Mutant> mutants = MutateSource(kSoftmax, kAll);
  for (const Mutant& mutant : mutants) {
    EXPECT_NE(mutant.source, kSoftmax);
    EXPECT_EQ(Reversed(mutant), kSoftmax) << mutant.name;
    EXPECT_EQ(LinesOf(mutant.source), LinesOf(kSoftmax));
    EXPECT_THAT(mutant.name, HasSubstr(mutant.operation + ":" + std::to_string(mutant.line) + ":"));
    EXPECT_GT(mutant.line, 7) << "a mutant above the first body: " << mutant.diff;
    names.insert(mutant.name);
    sources.insert(mutant.source);
  }
  EXPECT_EQ(names.size(), mutants.size());
  EXPECT_EQ(sources.size(), mutants.size());
  EXPECT_GT(mutants.size(), 60u);
}

TEST(MutateSource, EveryOperationFindsItsPlace) {
  std::set<std::string> found;
  for (const Mutant& mutant : MutateSource(kSoftmax, kAll)) found.insert(mutant.operation);
  EXPECT_THAT(found, UnorderedElementsAreArray(MutantOperations()));
}

TEST(MutateSource, ASampleIsEvenOverOperationsAndTheSameEachTime) {
  std::map<std::string, int> all, some;
  for (const Mutant& mutant : MutateSource(kSoftmax, kAll)) ++all[mutant.operation];
  const std::vector<Mutant> sample = MutateSource(kSoftmax, 30);
  ASSERT_EQ(sample.size(), 30u);
  for (const Mutant& mutant : sample) ++some[mutant.operation];
  for (const auto& [operation, count] : all) {
    EXPECT_GE(some[operation], std::min(count, 3)) << operation;
  }
  const std::vector<Mutant> again = MutateSource(kSoftmax, 30);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(sample[i].name, again[i].name);
  EXPECT_TRUE(std::is_sorted(sample.begin(), sample.end(), [](const Mutant& a, const Mutant& b) {
    return a.line < b.line || (a.line == b.line && a.column < b.column);
  }));
  EXPECT_THAT(MutateSource(kSoftmax, 0), IsEmpty());
}

TEST(MutateSource, AFaultOverTwoLinesKeepsTheLinesBelow) {
  const std::string source = InBody("asm volatile(\"bar.sync 0;\"\n  ::: \"memory\");\ny = a + b;");
  const std::vector<Mutant> mutants = MutateSource(source);
  ASSERT_EQ(mutants.size(), 2u);
  EXPECT_EQ(mutants[0].diff, "-asm volatile(\"bar.sync 0;\"\n-  ::: \"memory\");\n+\n+;");
  EXPECT_EQ(mutants[1].line, 4);
  for (const Mutant& mutant : mutants) EXPECT_EQ(Reversed(mutant), source);
}

TEST(MutateSource, HostileTextIsTakenInLinearTime) {
  const char* kPieces[] = {"<",       "a<",
                           "(",       "[{",
                           "for(;;)", "while(a)",
                           "a?",      "if(a<b)",
                           "\"",      "/*",
                           "R\"x(",   "#\\\n",
                           "a[i]",    "template<",
                           "x+",      "float a,",
                           "a*b+c;",  "while(a<b){a=1;",
                           "\\",      "'",
                           "}",       "asm(\"bar.sync\");"};
  for (const char* piece : kPieces) {
    std::string text = "void f() {";
    while (text.size() < (512 << 10)) text += piece;
    for (const Mutant& mutant : MutateSource(text, 3)) EXPECT_NE(mutant.source, text);
  }
  EXPECT_THAT(MutateSource(""), IsEmpty());
  EXPECT_THAT(MutateSource(std::string(3, '\0')), IsEmpty());
}

TEST(MutateSource, MostMutantsCompile) {
  std::string why;
  const auto nvrtc = OpenNvrtc(&why);
  const char* require = std::getenv("KB_REQUIRE_CUDA");
  ASSERT_FALSE(nvrtc == nullptr && require != nullptr && std::string(require) == "1") << why;
  if (nvrtc == nullptr) GTEST_SKIP() << why;
  ASSERT_TRUE(nvrtc->Compile({kSoftmax, "softmax.cu", "sm_90a", {}}).ok);
  const std::vector<Mutant> mutants = MutateSource(kSoftmax, 24);
  int failed = 0;
  for (const Mutant& mutant : mutants) {
    const CompileResult result = nvrtc->Compile({mutant.source, "softmax.cu", "sm_90a", {}});
    failed += result.ok ? 0 : 1;
    if (!result.ok)
      std::printf("%s\n%s\n%s", mutant.name.c_str(), mutant.diff.c_str(), result.log.c_str());
  }
  EXPECT_LE(failed * 10, static_cast<int>(mutants.size())) << "more than a tenth do not compile";
}

}  // namespace
}  // namespace kb
