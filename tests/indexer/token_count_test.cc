#include "indexer/token_count.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kb {
namespace {

struct Counted {
  const char* text;
  int tokens;  // the larger of o200k_base and cl100k_base, by gpt-tokenizer
};

TEST(CountTokens, IsNeverBelowRealTokenizers) {
  const Counted table[] = {
      {"The kernel is bound by memory bandwidth, so widen the loads to 128 bits.", 17},
      {"__global__ void __launch_bounds__(256, 2) axpy(float a, const float4* x, float4* y) {\n  "
       "int i = blockIdx.x * blockDim.x + threadIdx.x;\n}\n",
       47},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes", 19},
      {"LDG.E.128.CONSTANT R4, [R2.64+0x10] ;", 22},
      {"| tile | time (us) | % of roofline |\n|---|---|---|\n| 128x128x64 | 41.27 | 78.3 |\n", 38},
      {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", 35},
      {"4jn1E3gmUfIHaFqnB7j0vQYx9kAaXkmJr2P0aR5c7tZ0qk3lq8Q=", 47},
      {"cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);",
       22},
      {"0.1234567 3.14159265 1e-05 65504 2147483647", 24},
      {"这个内核受内存带宽限制。", 15},
      {"Ядро ограничено пропускной способностью памяти.", 24},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 15},
      {"🚀🔥✅", 8},
      {"a", 1},
      {"\n\n\n", 1},
      {"{\"id\": 17, \"name\": \"gemm_bf16\", \"ok\": true}", 21},
  };
  for (const auto& [text, tokens] : table) {
    EXPECT_GE(CountTokens(text), tokens) << text;
    EXPECT_LE(CountTokens(text), 4 * tokens + 5) << text;
  }
}

TEST(CountTokens, ProseCostsLittleMoreThanItsRealCount) {
  const std::string sentence =
      "The kernel is bound by memory bandwidth, so widen the loads to 128 bits. ";
  std::string page;
  for (int i = 0; i < 100; ++i) page += sentence;
  EXPECT_GE(CountTokens(page), 1700);  // 17 tokens a sentence
  EXPECT_LE(CountTokens(page), 1700 * 1.35);
}

TEST(CountTokens, NothingCostsNothing) {
  EXPECT_EQ(CountTokens(""), 0);
  EXPECT_GE(CountTokens("x"), 1);
}

// Bytes of every class, in an order that no text has.
std::string RandomBytes(size_t size, unsigned seed) {
  constexpr std::string_view kBytes =
      "aeqzBCDxy0123__  \n\n\t\r--=*.\xe2\x94\x80\xd0\xb6\xf0\x9f\xff\0";
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < size) text.append(1 + random() % 4, kBytes[random() % kBytes.size()]);
  return text;
}

TEST(CountTokens, AppendingNeverLowersTheCount) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::string text = RandomBytes(500, seed);
    int before = 0;
    for (size_t n = 0; n <= text.size(); ++n) {
      const int now = CountTokens(std::string_view(text).substr(0, n));
      ASSERT_GE(now, before) << "seed " << seed << ", " << n << " bytes";
      before = now;
    }
    EXPECT_GT(before, 100);
  }
}

TEST(CountTokens, LongRunsCostSomething) {
  for (char c : {' ', '\n', '\t', '-', 'a', 'A', '0', '_', '\xff'}) {
    // The most that any vocabulary checked puts in one token is 128 spaces.
    EXPECT_GE(CountTokens(std::string(12800, c)), 100) << int{c};
  }
}

TEST(CountTokens, SixteenMebibytesTakeLittleTime) {
  const std::string text = RandomBytes(16 << 20, 1);
  EXPECT_GT(CountTokens(text), 1 << 20);
}

}  // namespace
}  // namespace kb
