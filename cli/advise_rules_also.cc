// What contributes to a bound and is none itself.
#include "cli/advise_rules.h"

namespace kb {
namespace {

constexpr const char kTheoretical[] = "sm__maximum_warps_per_active_cycle_pct";
constexpr const char kLimitWarps[] = "launch__occupancy_limit_warps";
constexpr const char kLimitRegisters[] = "launch__occupancy_limit_registers";
constexpr const char kLimitShared[] = "launch__occupancy_limit_shared_mem";
constexpr const char kLimitBlocks[] = "launch__occupancy_limit_blocks";
constexpr const char kLanes[] = "smsp__thread_inst_executed_per_inst_executed.ratio";

constexpr AdviceRule kRules[] = {
    {"uncoalesced-loads",
     "",
     kContributes,
     {{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", nullptr, false, 16},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", nullptr, true, 0.5}},
     "",
     "dram l2 l1 memory latency occupancy spills",
     "Less than half of each 32-byte sector is used by global loads.",
     "Let neighbouring lanes read neighbouring words: another layout (SoA), another mapping of "
     "threads, or a transposition through shared memory.",
     "Nsight Compute Profiling Guide, \"Memory Tables\" (bytes per sector; 32 is ideal). Half: "
     "chosen; the cases of tests/data/ncu have 4 or 26 and more",
     {"coalesced-memory-access"},
     "uncoalesced global loads sectors per request"},
    {"uncoalesced-stores",
     "",
     kContributes,
     {{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", nullptr, false, 16},
      {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", nullptr, true, 0.5}},
     "",
     "dram l2 l1 memory latency occupancy spills",
     "Less than half of each 32-byte sector is used by global stores.",
     "Let neighbouring lanes write neighbouring words: another layout (SoA), another mapping of "
     "threads, or a transposition through shared memory.",
     "Nsight Compute Profiling Guide, \"Memory Tables\" (bytes per sector; 32 is ideal). Half: "
     "chosen; the cases of tests/data/ncu have 4 or 26 and more",
     {"coalesced-memory-access"},
     "uncoalesced global stores sectors per request"},
    {"bank-conflicts",
     "",
     kContributes,
     {{"derived__memory_l1_wavefronts_shared_excessive", "memory_l1_wavefronts_shared", true, 0.1}},
     "",
     "shared l1 latency occupancy memory",
     "Bank conflicts: shared memory needs more wavefronts than the data would.",
     "Pad the rows or swizzle the columns so that the lanes of a warp fall on different banks.",
     "Nsight Compute 2025.3, rule SharedMemoryConflicts (sections/SharedMemoryConflicts.py): from "
     "10 %; here of the wavefronts counted by instruction, for the counter of conflicts also "
     "counts other delays (tests/data/ncu/raw.csv)",
     {"shared-memory-banks"},
     "shared memory bank conflicts padding swizzle"},
    {"few-lanes",
     "",
     kContributes,
     {{kLanes, nullptr, false, 24}},
     "",
     "latency dram l2 l1 shared memory occupancy",
     "Only a part of the lanes takes part in the instructions.",
     "Regroup the work so that the lanes of a warp take the same branch.",
     "Nsight Compute 2025.3, rule ThreadDivergence (sections/ThreadDivergence.py): fewer than 24 "
     "threads an instruction",
     {"profile-with-nsight-compute"},
     "warp divergence"},
    {"limit-registers",
     "",
     kContributes,
     {{kTheoretical, nullptr, false, 50},
      {kLimitRegisters, kLimitWarps, false, 1},
      {kLimitRegisters, kLimitShared, false, 1.0001}},
     "",
     "occupancy latency",
     "Registers limit how many blocks fit on a multiprocessor.",
     "Fewer registers a thread (smaller tiles, launch bounds), as long as nothing spills.",
     "Nsight Compute Profiling Guide, \"Occupancy\" (block limits: the smallest binds). 50 %: "
     "chosen, as for occupancy",
     {"occupancy-and-registers"},
     "occupancy limited by registers"},
    {"limit-shared-memory",
     "",
     kContributes,
     {{kTheoretical, nullptr, false, 50},
      {kLimitShared, kLimitWarps, false, 1},
      {kLimitShared, kLimitRegisters, false, 1.0001}},
     "",
     "occupancy latency",
     "Shared memory limits how many blocks fit on a multiprocessor.",
     "Less shared memory a block: smaller or fewer stages, narrower types, or larger blocks that "
     "share one tile.",
     "Nsight Compute Profiling Guide, \"Occupancy\" (block limits: the smallest binds). 50 %: "
     "chosen, as for occupancy",
     {"occupancy-and-registers"},
     "occupancy limited by shared-memory"},
    {"limit-block-size",
     "",
     kContributes,
     {{kTheoretical, nullptr, false, 50},
      {kLimitBlocks, kLimitWarps, false, 1},
      {kLimitBlocks, kLimitRegisters, false, 1.0001},
      {kLimitBlocks, kLimitShared, false, 1.0001}},
     "",
     "occupancy latency",
     "The number of blocks a multiprocessor holds limits the warps: the blocks are small.",
     "Larger blocks.",
     "Nsight Compute Profiling Guide, \"Occupancy\" (block limits: the smallest binds). 50 %: "
     "chosen, as for occupancy",
     {"occupancy-and-registers"},
     "occupancy limited by block-size"},
};

}  // namespace

std::span<const AdviceRule> ContributingRules() { return kRules; }

}  // namespace kb
