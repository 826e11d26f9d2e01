#include "indexer/aliases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace kb {
namespace {

std::vector<std::string> Terms(std::string_view query) {
  std::vector<std::string> terms;
  for (const AliasTerm& alias : ExpandAliases(query)) terms.push_back(alias.term);
  return terms;
}

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

struct Pair {
  const char* query;
  const char* term;
};

TEST(ExpandAliases, FindsTheOtherName) {
  for (auto [query, term] : {
           Pair{"How do I use TMA?", "cp.async.bulk"},
           {"tensor map creation fails", "cutensormap"},
           {"CUtensorMap alignment", "tensor memory accelerator"},
           {"tensor cores idle", "wgmma"},
           {"WMMA fragments", "tensor core"},
           {"mma.sync.aligned.m16n8k16", "tensor core"},
           {"H200 peak", "sm_90"},
           {"on sm_90a", "hopper"},
           {"A100", "ampere"},
           {"RTX 4090 kernels", "sm_89"},
           {"GB200", "blackwell"},
           {"smem carve-out", "shared memory"},
           {"gmem loads", "global memory"},
           {"why do my regs spill", "local memory"},
           {"LDG.E.128", "global memory"},
           {"PDL", "programmatic dependent launch"},
           {"griddepcontrol.wait", "pdl"},
           {"threads per CTA", "thread block"},
           {"DSMEM reads", "distributed shared memory"},
           {"ncu says", "nsight compute"},
           {"Nsight Systems timeline", "nsys"},
           {"race condition in my reduction", "racecheck"},
           {"uninitialised values", "initcheck"},
           {"uninitialized values", "initcheck"},
           {"bank-conflicts", "swizzle"},
           {"vectorised loads", "float4"},
           {"warp specialisation", "warp specialization"},
           {"flash-attention kernel", "scaled dot product attention"},
           {"bfloat16 gemm", "bf16"},
           {"illegal memory access", "compute sanitizer"},
           {"split-K", "stream k"},
       }) {
    EXPECT_THAT(Terms(query), Contains(term)) << query;
  }
}

TEST(ExpandAliases, MatchesAtWordBordersOnly) {
  for (const char* query : {"format", "tmatrix", "x_tma", "tma_x", "bandwidth", "Adaptive", "h1000",
                            "", " ", "what is the weather like", "\xff\xfe"}) {
    EXPECT_THAT(Terms(query), IsEmpty()) << query;
  }
}

TEST(ExpandAliases, LongerNameCounts) {
  EXPECT_THAT(Terms("cp.async.bulk"), Not(Contains("ldgsts")));
  EXPECT_THAT(Terms("cp.async"), Contains("ldgsts"));
  EXPECT_THAT(Terms("cp.async"), Not(Contains("tma")));
  EXPECT_THAT(Terms("tensor memory accelerator"), Not(Contains("tmem")));
  EXPECT_THAT(Terms("tensor memory"), Contains("tmem"));
}

TEST(ExpandAliases, NeverSaysWhatTheQuestionSays) {
  for (auto [query, term] : {Pair{"TMA cp.async.bulk", "tma"},
                             {"TMA cp.async.bulk", "cp.async.bulk"},
                             {"Tensor-Cores with wgmma", "tensor core"},
                             {"Tensor-Cores with wgmma", "wgmma"},
                             {"H100 or Hopper", "hopper"},
                             {"shared memory smem", "smem"}}) {
    EXPECT_THAT(Terms(query), Not(Contains(term))) << query;
    EXPECT_THAT(Terms(query), Not(IsEmpty())) << query;
  }
  EXPECT_THAT(Terms("wgmma"), Contains("mma"));  // another word, although inside the first
}

TEST(ExpandAliases, TermsAreDistinctWeighedAndSorted) {
  const auto found = ExpandAliases("wgmma tcgen05 mma on H100 with TMA, smem and a race condition");
  ASSERT_GT(found.size(), 20u);
  std::set<std::string> seen;
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(seen.insert(found[i].term).second) << found[i].term;
    EXPECT_GT(found[i].weight, 0);
    EXPECT_LE(found[i].weight, 1);
    EXPECT_GE(found[i == 0 ? 0 : i - 1].weight, found[i].weight);
  }
}

TEST(ExpandAliases, LongQuestionsTakeBoundedTime) {
  std::string query;
  while (query.size() < (16u << 20)) query += "tma ";
  EXPECT_THAT(Terms(query), Contains("tensor map"));
}

TEST(ArchOf, ReadsNamesAndNumbers) {
  const std::pair<const char*, const char*> table[] = {
      {"H100", "sm_90"},
      {"on a Hopper GPU", "sm_90"},
      {"H200s", "sm_90"},
      {"sm_90a wgmma", "sm_90"},
      {"SM90", "sm_90"},
      {"-arch=compute_80", "sm_80"},
      {"compute capability 8.9", "sm_89"},
      {"A100-80GB", "sm_80"},
      {"RTX 4090", "sm_89"},
      {"L40S", "sm_89"},
      {"B200", "sm_100"},
      {"sm_100f", "sm_100"},
      {"RTX 5090", "sm_120"},
      {"Blackwell Ultra", "sm_103"},
      {"V100", "sm_70"},
      {"H100 and Hopper and sm_90", "sm_90"},
      {"from A100 to H100", ""},
      {"softmax", ""},
      {"", ""},
      {"sm_", ""},
      {"sm_9", ""},
      {"sm_90000", ""},
      {"sm_efficiency", ""},
      {"compute_bound", ""},
      {"compute capability", ""},
      {"compute capability 12", ""},
      {"smallest 90", ""},
  };
  for (auto [text, arch] : table) EXPECT_EQ(ArchOf(text), arch) << text;
}

}  // namespace
}  // namespace kb
