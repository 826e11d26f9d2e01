#include "indexer/aliases.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace kb {
namespace {

constexpr size_t kMaxBytes = 4096;

// Names of one thing, lower-case, with single spaces for hyphens. Weight: .9 spellings of one
// word, .6 names of one thing, .4 a thing and its instruction, cure or tool.
struct Group {
  float weight;
  std::array<std::string_view, 11> names;
};

// An architecture's group begins with its sm_ name: ArchOf reads it there.
constexpr Group kGroups[] = {
    // Architectures (CUDA C++ Programming Guide, compute capabilities).
    {.6f, {"sm_70", "volta", "v100"}},
    {.6f, {"sm_75", "turing", "t4", "rtx 2080"}},
    {.6f, {"sm_80", "ampere", "a100", "a30"}},
    {.6f, {"sm_86", "rtx 3090", "a10", "a40", "rtx a6000"}},
    {.6f, {"sm_87", "jetson orin", "orin"}},
    {.6f, {"sm_89", "ada", "ada lovelace", "l4", "l40", "l40s", "rtx 4090"}},
    {.6f, {"sm_90", "hopper", "h100", "h200", "gh200", "sm_90a"}},
    {.6f, {"sm_100", "blackwell", "b200", "gb200", "sm_100a"}},
    {.6f, {"sm_103", "blackwell ultra", "b300", "gb300", "sm_103a"}},
    {.6f, {"sm_110", "jetson thor", "thor"}},
    {.6f, {"sm_120", "rtx 5090", "rtx pro 6000", "sm_120a"}},
    {.6f, {"sm_121", "gb10", "dgx spark"}},
    // Moving data. LDG, STS, LDGSTS, UTMALDG and the like are SASS opcodes.
    {.6f,
     {"tma", "tensor memory accelerator", "cp.async.bulk", "tensor map", "cutensormap",
      "cutensormapencodetiled", "bulk async copy", "utmaldg", "utmastg", "ublkcp"}},
    {.6f, {"cp.async", "ldgsts", "memcpy_async", "async copy", "asynchronous copy"}},
    {.6f, {"shared memory", "smem", "__shared__", "lds", "sts"}},
    {.6f, {"global memory", "gmem", "device memory", "ldg", "stg"}},
    {.6f, {"dram", "hbm", "hbm3", "device memory"}},
    {.6f,
     {"local memory", "register spill", "register spilling", "spill", "spilling", "regs spill",
      "lmem", "ldl", "stl"}},
    {.4f,
     {"register pressure", "__launch_bounds__", "maxrregcount", "registers per thread",
      "setmaxnreg", "register spill"}},
    {.4f, {"bank conflict", "swizzle", "swizzling"}},
    {.6f, {"coalesced", "coalescing", "uncoalesced", "sectors per request"}},
    {.4f,
     {"vectorized load", "vectorised load", "float4", "wide load", "128 bit load", "ld.global.v4"}},
    {.6f, {"distributed shared memory", "dsmem", "shared::cluster", "mapa", "map_shared_rank"}},
    {.6f, {"thread block cluster", "cluster launch", "cga", "__cluster_dims__"}},
    {.6f, {"tensor memory", "tmem", "tcgen05.alloc", "tcgen05.ld"}},
    {.6f, {"constant memory", "__constant__", "ldc"}},
    {.6f, {"read only cache", "__ldg", "ld.global.nc", "texture cache"}},
    {.4f,
     {"l2 persistence", "access policy window", "persisting l2", "l2 residency", "evict_last",
      "cache hint"}},
    {.6f, {"unified memory", "managed memory", "cudamallocmanaged", "uvm"}},
    {.6f, {"pinned memory", "page locked", "cudamallochost", "cudahostalloc"}},
    {.6f, {"nvlink sharp", "nvls", "multimem", "multicast object"}},
    {.6f, {"peer to peer", "p2p", "nvlink", "cudamemcpypeer", "peer access"}},
    // Arithmetic.
    {.6f, {"tensor core", "mma", "wgmma", "tcgen05", "wmma", "hmma", "imma", "hgmma"}},
    {.6f, {"wgmma", "warpgroup mma", "wgmma.mma_async", "hgmma", "warpgroup"}},
    {.6f, {"tcgen05", "umma", "tcgen05.mma", "fifth generation tensor core"}},
    {.6f, {"ldmatrix", "ldsm"}},
    {.6f, {"stmatrix", "stsm"}},
    {.6f, {"fma", "ffma", "fused multiply add"}},
    {.9f, {"bf16", "bfloat16", "__nv_bfloat16"}},
    {.9f, {"fp16", "float16", "half precision", "__half"}},
    {.6f, {"fp8", "float8", "e4m3", "e5m2", "__nv_fp8_e4m3"}},
    {.6f, {"fp4", "nvfp4", "mxfp4", "e2m1", "block scaled"}},
    {.9f, {"tf32", "tensorfloat 32", "tensorfloat32"}},
    {.6f, {"sfu", "mufu", "special function unit", "ex2.approx", "fast math", "use_fast_math"}},
    {.6f, {"structured sparsity", "2:4 sparsity", "mma.sp"}},
    {.6f, {"quantization", "quantisation", "dequantization", "dequantisation", "dequantize"}},
    // Running and waiting.
    {.6f, {"cta", "thread block", "threadblock", "cooperative thread array"}},
    {.6f, {"__syncthreads", "bar.sync", "block barrier"}},
    {.6f, {"mbarrier", "cuda::barrier", "transaction barrier", "expect_tx"}},
    {.6f, {"warp shuffle", "shfl", "__shfl_sync", "__shfl_xor_sync", "__shfl_down_sync"}},
    {.6f, {"warp vote", "__ballot_sync", "__any_sync", "__all_sync"}},
    {.6f,
     {"grid sync", "grid synchronization", "grid synchronisation", "grid barrier",
      "cooperative launch", "cudalaunchcooperativekernel"}},
    {.6f, {"memory fence", "__threadfence", "membar", "fence.acq_rel"}},
    {.6f, {"atomic", "atomicadd", "atomics", "red.global"}},
    {.6f,
     {"programmatic dependent launch", "pdl", "griddepcontrol", "cudagriddependencysynchronize",
      "cudatriggerprogrammaticlaunchcompletion"}},
    {.6f, {"cuda graph", "graph launch", "cudagraphlaunch", "stream capture"}},
    {.4f, {"launch overhead", "launch latency", "cuda graph", "small kernel"}},
    {.6f, {"dynamic parallelism", "cdp", "device side launch"}},
    {.6f,
     {"warp specialization", "warp specialisation", "warp specialized", "warp specialised",
      "producer consumer"}},
    {.6f, {"persistent kernel", "persistent cta", "persistent thread", "tile scheduler"}},
    {.4f, {"split k", "stream k", "splitk"}},
    {.6f,
     {"software pipelining", "multistage", "double buffering", "double buffer", "cuda::pipeline",
      "ping pong"}},
    {.6f,
     {"occupancy", "active warps", "warps per sm",
      "cudaoccupancymaxactiveblockspermultiprocessor"}},
    {.6f, {"warp divergence", "branch divergence", "divergent branch", "thread divergence"}},
    {.6f, {"tail effect", "wave quantization", "wave quantisation", "partial wave"}},
    // What bounds it, and the tools that say so.
    {.6f, {"memory bound", "bandwidth bound", "memory limited", "dram bound"}},
    {.6f, {"compute bound", "math bound", "alu bound"}},
    {.6f, {"latency bound", "long scoreboard", "latency hiding"}},
    {.6f, {"roofline", "speed of light", "arithmetic intensity"}},
    {.9f, {"ncu", "nsight compute"}},
    {.9f, {"nsys", "nsight systems"}},
    {.4f,
     {"compute sanitizer", "memcheck", "cuda memcheck", "illegal memory access", "out of bounds",
      "invalid global read", "invalid global write"}},
    {.6f, {"racecheck", "race condition", "data race", "shared memory hazard"}},
    {.6f, {"initcheck", "uninitialized", "uninitialised", "uninitialized memory"}},
    {.6f, {"synccheck", "divergent barrier", "barrier divergence"}},
    {.6f, {"hang", "deadlock"}},
    {.6f, {"sass", "cuobjdump", "nvdisasm", "disassembly"}},
    {.6f, {"ptx", "inline assembly", "inline asm", "asm volatile"}},
    {.6f, {"nvrtc", "runtime compilation", "jit compilation"}},
    // Operations.
    {.6f, {"gemm", "matmul", "matrix multiply", "matrix multiplication"}},
    {.6f, {"gemv", "matrix vector"}},
    {.6f,
     {"attention", "flash attention", "flashattention", "sdpa", "scaled dot product attention"}},
    {.6f, {"prefix sum", "exclusive scan", "inclusive scan"}},
    {.9f, {"layernorm", "layer norm", "layer normalization", "layer normalisation"}},
    {.9f, {"rmsnorm", "rms norm", "root mean square norm"}},
    {.6f, {"moe", "mixture of experts", "grouped gemm"}},
    {.6f, {"kv cache", "paged attention", "pagedattention"}},
    {.6f, {"convolution", "conv2d", "implicit gemm"}},
    {.6f, {"kernel fusion", "operator fusion", "fused kernel"}},
    // Spellings that a stemmer does not join.
    {.9f, {"optimization", "optimisation"}},
    {.9f, {"optimize", "optimise"}},
    {.9f, {"synchronization", "synchronisation"}},
    {.9f, {"synchronize", "synchronise"}},
    {.9f, {"vectorized", "vectorised"}},
    {.9f, {"normalization", "normalisation"}},
    {.9f, {"initialize", "initialise"}},
    {.9f, {"parallelize", "parallelise"}},
};

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80) != 0;
}

// Lower-case, with one space for each run of hyphens and white space.
std::string Normalise(std::string_view text) {
  std::string normal;
  for (char c : text.substr(0, kMaxBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool space = c == '-' || std::isspace(byte) != 0;
    if (!space) {
      normal += static_cast<char>(byte < 0x80 ? std::tolower(byte) : byte);
    } else if (!normal.empty() && normal.back() != ' ') {
      normal += ' ';
    }
  }
  return normal;
}

bool IsBorderBefore(std::string_view text, size_t at) {
  return at == 0 || (!IsWordByte(text[at - 1]) && text[at - 1] != '.');
}

// A dot goes on a name (mma.sync is an mma); an s is its plural.
bool IsBorderAfter(std::string_view text, size_t at) {
  if (at < text.size() && text[at] == 's') ++at;
  return at >= text.size() || !IsWordByte(text[at]);
}

std::optional<size_t> FindName(std::string_view text, std::string_view name, size_t from = 0) {
  for (size_t at = text.find(name, from); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool ends = end == text.size() || !IsWordByte(text[end]) || IsBorderAfter(text, end);
    if (IsBorderBefore(text, at) && ends) return at;
  }
  return std::nullopt;
}

struct Match {
  size_t begin, end;
  const Group* group;
};

// All names in the text, without those inside a longer one.
std::vector<Match> FindNames(std::string_view text) {
  std::vector<Match> all;
  for (const Group& group : kGroups) {
    for (std::string_view name : group.names) {
      if (name.empty()) break;
      for (auto at = FindName(text, name); at; at = FindName(text, name, *at + 1)) {
        all.push_back({*at, *at + name.size(), &group});
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const Match& a, const Match& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<Match> longest;
  for (const Match& match : all) {
    const bool same = !longest.empty() && match.begin == longest.back().begin;
    const bool inside = !longest.empty() && match.end <= longest.back().end;
    if (!inside || (same && match.end == longest.back().end)) longest.push_back(match);
  }
  return longest;
}

// "90", "90a" or "9.0" -> "sm_90"; "" if it is none of these.
std::string ArchOfNumber(std::string_view text) {
  std::string digits;
  size_t i = 0;
  for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
    digits += text[i];
  }
  if (digits.size() <= 2 && i + 1 < text.size() && text[i] == '.' &&
      std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) {
    digits += text[i + 1];
    i += 2;
  }
  if (i < text.size() && (text[i] == 'a' || text[i] == 'f')) ++i;
  const bool ends = i >= text.size() || !IsWordByte(text[i]);
  const bool known = digits.size() == 3 || (digits.size() == 2 && digits >= "50");
  return ends && known ? "sm_" + digits : "";
}

void AddNumberedArchs(std::string_view text, std::set<std::string>* archs) {
  for (std::string_view prefix :
       {"sm_", "sm", "compute_", "compute capability ", "compute capability"}) {
    for (size_t at = text.find(prefix); at != std::string_view::npos;
         at = text.find(prefix, at + 1)) {
      if (!IsBorderBefore(text, at)) continue;
      std::string arch = ArchOfNumber(text.substr(at + prefix.size()));
      if (!arch.empty()) archs->insert(std::move(arch));
    }
  }
}

}  // namespace

std::vector<AliasTerm> ExpandAliases(std::string_view query) {
  const std::string text = Normalise(query);
  std::map<std::string_view, float> weights;
  for (const Match& match : FindNames(text)) {
    for (std::string_view name : match.group->names) {
      if (name.empty()) break;
      float& weight = weights[name];
      weight = std::max(weight, match.group->weight);
    }
  }
  std::vector<AliasTerm> terms;
  for (const auto& [name, weight] : weights) {
    if (!FindName(text, name)) terms.push_back({std::string(name), weight});
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const AliasTerm& a, const AliasTerm& b) { return a.weight > b.weight; });
  return terms;
}

std::string ArchOf(std::string_view text) {
  const std::string normal = Normalise(text);
  std::set<std::string> archs;
  for (const Match& match : FindNames(normal)) {
    const std::string_view first = match.group->names.front();
    if (first.starts_with("sm_")) archs.emplace(first);
  }
  AddNumberedArchs(normal, &archs);
  return archs.size() == 1 ? *archs.begin() : "";
}

}  // namespace kb
