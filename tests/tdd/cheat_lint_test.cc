#include <chrono>

#include "case_files.h"
#include "tdd/cuda_text.h"

namespace kb {
namespace {

using ::testing::HasSubstr;

// "2 cheat-clock warning;", a finding each.
std::string Findings(const Diagnostics& diagnostics) {
  std::string all;
  for (const Diagnostic& d : diagnostics) {
    all += std::to_string(d.line) + " " + d.rule + " " + SeverityName(d.severity) + ";";
  }
  return all;
}

struct Row {
  const char* source;
  const char* findings;
};

TEST_F(CaseFiles, AnHonestKernelHasNoFindings) {
  EXPECT_EQ(Findings(LintOf(kKernel)), "");
  const char* const sources[] = {
      "#include <cuda/std/cstdint>\n#include <cuda/barrier>\n#include \"tile.cuh\"\n"
      "#include <cooperative_groups.h>\n#include <cub/block/block_reduce.cuh>\n",
      "// exit(0) dlopen /proc clock64()\n/* __device__ int x; */\nconst int a = 1; // "
      "\"atexit\"\n",
      "__device__ __forceinline__ float f(float x) { return x; }\n"
      "template <int N> __device__ __launch_bounds__(256) int g();\n"
      "__device__ constexpr int kA = 3;\n__device__ const float kTable[2] = {1, 2};\n"
      "static __device__ float h(float2* p, int half) { return p[half / 2].x; }\n"
      "__constant__ float c[4];\nstruct S { __device__ S& operator=(const S&); };\n",
      "__global__ void k(const float* x, float* y) { if (x == nullptr) return; if (*x == *y) y[0] "
      "= 1;\n"
      "  const bool ok = reinterpret_cast<uintptr_t>(x) % 16 == 0;\n"
      "  const int4 v = *reinterpret_cast<const int4*>(x); static __shared__ float s[4]; }\n",
      "__global__ void k() { asm volatile(\"bar.sync 0;\" ::: \"memory\"); auto f = [] __device__ "
      "{ };\n"
      "  asm(\"prefetch.tensormap [%0];\" :: \"l\"(0ull)); const int n = 1'000'000; const char c = "
      "'\"'; }\n",
      "#define BODY(x) \\\n  x + 1\n__global__ void k() { int exit = 0, clock = BODY(exit); "
      "s.open(clock); }\n",
      "__global__ void k(const float* x) { if (threadIdx.x == 3 || blockIdx.x == n) return;\n"
      "  for (int half = 16; half > 0; half /= 2) f(half * 2); }\n",
  };
  for (const char* source : sources) EXPECT_EQ(Lines(LintOf(source)), "") << source;
}

TEST_F(CaseFiles, DeviceCodeThatCouldCheatIsToldWithItsLine) {
  const Row rows[] = {
      {"\n__device__ float cache[1024];\n", "2 cheat-static-state warning;"},
      {"__device__ int calls = 0;", "1 cheat-static-state warning;"},
      {"__device__ int calls(0);", "1 cheat-static-state warning;"},
      {"__device__ __align__(16) float4 c;", "1 cheat-static-state warning;"},
      {"__device__ const float* last;", "1 cheat-static-state warning;"},
      {"__managed__ int calls;", "1 cheat-static-state warning;"},
      {"__device__\n\n /* x */ int\n calls;", "1 cheat-static-state warning;"},
      {"void f() { static int n = 0; }", "1 cheat-static-state warning;"},
      {"void f() { long long t = clock64(); }", "1 cheat-clock warning;"},
      {"void f() { asm(\"mov.u64 %0, %globaltimer;\"); }", "1 cheat-clock warning;"},
      {"void f() { asm(\"mov.u64 %0, %\" \"clock64;\"); }", "1 cheat-clock warning;"},
      {"void f() { __nanosleep(100); }", "1 cheat-sleep warning;"},
      {"void f() {\n asm(\"prefetch.global.L2 [%0];\"); }", "2 cheat-prefetch warning;"},
      {"void f() { asm(\"cp.async.bulk.prefetch.L2.global [%0], 16;\"); }",
       "1 cheat-prefetch warning;"},
      {"void f() { asm(\"createpolicy.fractional.L2::evict_last.b64 p;\"); }",
       "1 cheat-policy warning;"},
      {"void f() { asm(\"ld.global.L2::cache_hint.f32 %0, [%1], %2;\"); }",
       "1 cheat-policy warning;"},
      {"void f() { cuda::access_property::persisting p; }", "1 cheat-policy warning;"},
      {"void f() { asm(\"ld.param.u64 %0, [p];\"); }", "1 cheat-address warning;"},
      {"void f(float* x) { auto key = reinterpret_cast<unsigned long long>(x); }",
       "1 cheat-address warning;"},
      {"__global__ void k(const float* __restrict__ x) {\n if (x == last) return; }",
       "2 cheat-address warning;"},
      {"__global__ void k(float *x, float* y) { if (last != y) return; }",
       "1 cheat-address warning;"},
      {"void f() { curand_init(1234, 0, 0, &s); }", "1 cheat-seed warning;"},
      {"void f() { cl\\\nock64(); }\nvoid g() { __nanosleep(1); }",
       "1 cheat-clock warning;3 cheat-sleep warning;"},
      {"void f() { h = __float2half(x); }", "1 cheat-narrow warning;"},
      {"#include <cuda_fp16.h>\nhalf* h;", "2 cheat-narrow warning;"},
      {"__nv_bfloat16 b;", "1 cheat-narrow warning;"},
      {"__nv_fp8_e4m3 b;", "1 cheat-narrow warning;"},
      {"wmma::precision::tf32 t;", "1 cheat-narrow warning;"},
      {"void f() { asm(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {};\"); }",
       "1 cheat-narrow warning;"},
      {"__attribute__((constructor)) void f() {}", "1 cheat-constructor error;"},
      {"__global__ void k() {\n g<<<1, 2, 0, s>>>(); }", "2 cheat-stream warning;"},
  };
  for (const Row& row : rows) EXPECT_EQ(Findings(LintOf(row.source)), row.findings) << row.source;
}

TEST_F(CaseFiles, WhatHidesCodeIsAnError) {
  const Row rows[] = {
      {"#include \"/etc/passwd\"\n", "1 cheat-hidden error;"},
      {"#include \"../../x.cc\"\n", "1 cheat-hidden error;"},
      {"#include <cuda/../../reference.cc>\n", "1 cheat-hidden error;"},
      {"#include <fstream>\n", "1 cheat-file warning;1 cheat-hidden error;"},
      {"#include <vector>\n", "1 cheat-hidden error;"},
      {"#include \"other.cuh\"\n", "1 cheat-hidden error;"},
      {"#include FILE\n", "1 cheat-hidden error;"},
      {"#include\n", "1 cheat-hidden error;"},
      {"  #  /* a */ include  \"/x\"\n", "1 cheat-hidden error;"},
      {"#inc\\\nlude \"/x\"\n", "1 cheat-hidden error;"},
      {"#if 0\n#include <a/*b>\n#endif\n", "2 cheat-hidden error;"},
      {"#include_next <mma.h>\n", "1 cheat-hidden error;"},
      {"#import \"tile.cuh\"\n", "1 cheat-hidden error;"},
      {"#embed \"/etc/passwd\"\n", "1 cheat-hidden error;"},
      {"%:include \"/x\"\n", "1 cheat-hidden error;"},
      {"?\?=include \"/x\"\n", "1 cheat-hidden error;"},
      {"auto s = \"?\?/\";\n", "1 cheat-hidden error;"},
      {"int \\u0061texit;\n", "1 cheat-hidden error;"},
      {"void f() { asm(\".incbin \\\"/etc/passwd\\\"\"); }", "1 cheat-hidden error;"},
      {"#define CAT(a, b) a##b\n", "1 cheat-hidden warning;"},
      {"#define TEXT(a) #a\n", "1 cheat-hidden warning;"},
      {"/* never closed", "1 cheat-hidden error;"},
      {"auto s = R\"x(never closed)\";", "1 cheat-hidden error;"},
      {"auto s = R\"( )\\\n\" \")\";", "1 cheat-hidden error;"},
  };
  for (const Row& row : rows) EXPECT_EQ(Findings(LintOf(row.source)), row.findings) << row.source;
}

TEST_F(CaseFiles, HostCodeThatCouldCheatIsToldWithItsLine) {
  const Row rows[] = {
      {"__attribute__((constructor)) static void f() {}", "1 cheat-constructor error;"},
      {"[[gnu::__constructor__]] void f() {}", "1 cheat-constructor error;"},
      {"__attribute__((section(\".init_array\"))) void (*p)() = f;",
       "1 cheat-constructor error;1 cheat-static-state warning;"},
      {"asm(\".section .preinit_array\");", "1 cheat-constructor error;"},
      {"\nstd::map<int, int> cache;", "2 cheat-constructor error;"},
      {"namespace {\nFoo foo(1);\n}", "2 cheat-constructor error;"},
      {"extern \"C\" {\nint x = compute();\n}", "2 cheat-constructor error;"},
      {"struct A { A() { f(); } } a;", "1 cheat-constructor error;"},
      {"static int x = []{ return f(); }();",
       "1 cheat-static-state warning;1 cheat-constructor error;"},
      {"int calls = 0;", "1 cheat-static-state warning;"},
      {"cublasHandle_t handle;", "1 cheat-static-state warning;"},
      {"int kb_run() { static Cache cache; return 0; }", "1 cheat-static-state warning;"},
      {"void f() { exit(0); }", "1 cheat-process-end error;"},
      {"void f() { ::_exit(0); }", "1 cheat-process-end error;"},
      {"void f() { std::abort(); }", "1 cheat-process-end error;"},
      {"auto p = quick_exit;", "1 cheat-process-end error;1 cheat-static-state warning;"},
      {"void f() { std::at\\\nexit(g); }", "1 cheat-process-end error;"},
      {"void f() { dlsym(h, \"x\"); }", "1 cheat-loader warning;"},
      {"void f() { ptrace(0, 0, 0, 0); }", "1 cheat-debugger warning;"},
      {"void f() { mprotect(p, 1, 7); }", "1 cheat-patch warning;"},
      {"void f() { g(\"LD_PRELOAD\"); }", "1 cheat-proc warning;"},
      {"void f() { g(\"\\x2fproc/self/maps\"); }", "1 cheat-proc warning;"},
      {"void f() { g(\"/pr\" \"oc/self\"); }", "1 cheat-proc warning;"},
      {"void f() { g(R\"(/proc)\"); }", "1 cheat-proc warning;"},
      {"void f() { fork(); }", "1 cheat-child warning;"},
      {"void f() { system(\"ls\"); }", "1 cheat-child warning;"},
      {"void f() { popen(\"ls\", \"r\"); }", "1 cheat-child warning;"},
      {"void f() { socket(1, 2, 3); }", "1 cheat-network warning;"},
      {"void f() { fopen(\"a\", \"r\"); }", "1 cheat-file warning;"},
      {"void f() { cudaStreamCreateWithFlags(&s, 1); }", "1 cheat-stream warning;"},
      {"void f() { k<<<1, 2>>>(x); }", "1 cheat-stream warning;"},
      {"void f() { k<<<g(1, 2, 3), 2, 0>>>(x); }", "1 cheat-stream warning;"},
      {"void f() { std::thread t(g); }", "1 cheat-thread warning;"},
      {"void f() { pthread_create(&t, 0, g, 0); }", "1 cheat-thread warning;"},
      {"void f() { cudaGraphLaunch(g, s); }", "1 cheat-graph warning;"},
      {"void f() { cudaEventRecord(e, s); }", "1 cheat-event warning;"},
      {"void f() { cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, n); }",
       "1 cheat-limits warning;"},
      {"void f() { auto t = std::chrono::steady_clock::now(); }", "1 cheat-clock warning;"},
      {"#define CAT(a, b) a##b\n", "1 cheat-hidden error;"},
      {"#include <thread>\n", "1 cheat-hidden error;"},
      {"void f() { compute = CUBLAS_COMPUTE_32F_FAST_TF32; }", "1 cheat-narrow warning;"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Findings(LintOf(row.source, CandidateKind::kHost)), row.findings) << row.source;
  }
}

TEST_F(CaseFiles, AnHonestHostCandidateHasNoFindings) {
  const char* const source =
      "#include <cub/device/device_reduce.cuh>\n#include <cublas_v2.h>\n#include <cstdint>\n"
      "#include \"kb_candidate.h\"\n"
      "namespace {\nconstexpr int kBlock = 256;\nconst int kTwo = 2;\nusing F = float;\n"
      "struct Pair { float a = 0, b = 1; };\nenum class Mode { kA, kB };\n"
      "template <typename T>\n__global__ void k(const T* x, T* y, int n) { y[0] = x[0]; }\n"
      "int Declared(int n);\nfloat Twice(float x) { return 2 * x; }\n}  // namespace\n"
      "extern \"C\" int kb_run(const kb_args* args, CUstream_st* stream) {\n"
      "  Pair pair{1, 2};\n  k<float><<<1, kBlock, 0, stream>>>(x, y, 1);\n  return 0;\n}\n";
  EXPECT_EQ(Lines(LintOf(source, CandidateKind::kHost)), "");
}

TEST_F(CaseFiles, NarrowTypesAreNoFindingWhereTheCaseHasThemOrTheCandidateSaysSo) {
  Candidate candidate;
  candidate.source = "kernel.cu";
  candidate.source_text = "__nv_bfloat16 b;";
  const Case f32 = LoadCase(CaseFolder()).value;
  EXPECT_EQ(CheatLint(f32, candidate).size(), 1u);
  candidate.precision_declared = true;
  EXPECT_EQ(CheatLint(f32, candidate).size(), 0u);
  candidate.precision_declared = false;
  Write("case.yaml", With(kCaseYaml, "x: {dtype: f32", "x: {dtype: bf16"));
  const LoadedCase bf16 = LoadCase(CaseFolder());
  EXPECT_EQ(CheatLint(bf16.value, candidate).size(), 0u);
  candidate.source_text = "__nv_fp8_e5m2 b;";
  EXPECT_EQ(CheatLint(bf16.value, candidate).size(), 1u);
}

TEST_F(CaseFiles, HeadersOfACandidateAreReadToo) {
  Candidate candidate;
  candidate.folder = "c";
  candidate.source = "kernel.cu";
  candidate.files = {{"tile.cuh", "\n__device__ int calls;"}};
  EXPECT_THAT(Lines(CheatLint(LoadCase(CaseFolder()).value, candidate)),
              HasSubstr("c/tile.cuh:2: warning: a __device__ variable keeps its value"));
}

TEST_F(CaseFiles, LargeHostileSourcesAreReadInTime) {
  const auto many = [](const std::string& piece) {
    std::string text;
    while (text.size() < (256u << 10)) text += piece;
    return text;
  };
  for (const char* piece : {"(",
                            "{",
                            "<<<",
                            "__global__ ",
                            "__device__ ",
                            "static ",
                            "\\",
                            "\"",
                            "'",
                            "R\"(",
                            "/*",
                            "#",
                            "#include <",
                            "reinterpret_cast<int>(",
                            "?\?/",
                            "a",
                            "__device__<",
                            "\\\n",
                            "#define a ##",
                            "__global__ void k(float*x,",
                            "=",
                            "__attribute__(("}) {
    const auto start = std::chrono::steady_clock::now();
    const Diagnostics found = LintOf(many(piece), CandidateKind::kHost);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 10) << piece;  // generous: sanitizers and a busy machine
    EXPECT_LE(found.size(), 200u) << piece;
  }
}

TEST(CudaText, KeepsCodeAndTellsStringsApart) {
  const CudaText text("a /* b\n */ \"c\\\"d\" // e\n'f' g\\\nh 1'0 R\"x(ij)x\" \"k\"");
  EXPECT_EQ(text.code, "a     \n    \"    \"     \n' ' gh 1'0 R\"      \" \" \"");
  ASSERT_EQ(text.strings.size(), 2u);
  EXPECT_EQ(text.strings[0].text, "c\"d");
  EXPECT_EQ(text.strings[1].text, "ijk");
  EXPECT_EQ(text.LineAt(text.code.find("' '")), 3);
}

}  // namespace
}  // namespace kb
