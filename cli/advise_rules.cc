// Ranks 10 to 40: what holds a kernel up whatever else is busy.
#include "cli/advise_rules.h"

namespace kb {
namespace {

constexpr const char kMemory[] = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kDram[] = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kIssue[] = "smsp__issue_active.avg.pct_of_peak_sustained_active";
constexpr const char kWaves[] = "launch__waves_per_multiprocessor";
constexpr const char kActive[] = "sm__cycles_active.avg";
constexpr const char kElapsed[] = "gpc__cycles_elapsed.max";
constexpr const char kLanes[] = "smsp__thread_inst_executed_per_inst_executed.ratio";

constexpr AdviceRule kRules[] = {
    {"launch-idle-sms",
     "launch",
     10,
     {{kActive, kElapsed, false, 0.8}, {kWaves, nullptr, false, 1}, {kMemory, nullptr, false, 60}},
     "",
     "",
     "The grid has fewer blocks than fit at once, and most of the time most multiprocessors have "
     "none.",
     "Give the grid more blocks: smaller tiles, split the reduction (split-K), several problems in "
     "one launch. If there is no more work, fuse with neighbours or overlap kernels; then launch "
     "overhead counts.",
     "waves below 1: Nsight Compute 2025.3, rule SOLBottleneck (sections/SpeedOfLight.py). Active "
     "below 80 % of the time: measured, tests/data/ncu/raw.csv: 6 and 67 % in the two launch "
     "cases, 89 % or more in all others",
     {"launch-overhead-and-graphs", "occupancy-and-registers"},
     "grid too small to fill the GPU, split work over more blocks"},
    {"launch-tail",
     "launch",
     10,
     {{kActive, kElapsed, false, 0.8},
      {kWaves, nullptr, true, 1},
      {kWaves, nullptr, false, 5},
      {kMemory, nullptr, false, 60}},
     "",
     "",
     "A last wave of few blocks runs while most multiprocessors are idle.",
     "Make the number of blocks a multiple of what fits at once, take smaller blocks, or a "
     "persistent grid that shares out the work.",
     "Nsight Compute Profiling Guide, \"Launch Statistics\" (waves, tail effect). Five waves: "
     "after that a last one idles at most 1/6 of the time, which is no longer below 80 %",
     {"launch-overhead-and-graphs", "occupancy-and-registers"},
     "tail effect wave quantization persistent grid"},
    {"launch-imbalance",
     "launch",
     10,
     {{kActive, kElapsed, false, 0.8}, {kWaves, nullptr, true, 5}, {kMemory, nullptr, false, 60}},
     "",
     "",
     "Multiprocessors idle although there are many waves: some blocks take far longer than others.",
     "Even out the work of the blocks, start the long ones first, or let blocks fetch work from a "
     "counter.",
     "Nsight Compute Profiling Guide, \"Workload Distribution\"; 80 % and five waves as for "
     "launch-tail",
     {"launch-overhead-and-graphs"},
     "load imbalance between thread blocks dynamic work queue"},
    {"spills",
     "spills",
     20,
     {{"derived__local_spilling_requests_pct", nullptr, true, 10}, {kIssue, nullptr, false, 80}},
     "",
     "",
     "Registers are spilled to local memory, and its loads and stores hold the warps up.",
     "Give the thread more registers (launch bounds with fewer blocks, smaller blocks), shorten "
     "live ranges, take smaller tiles, and index register arrays by constants only. ptxas -v says "
     "how many bytes are spilled.",
     "Nsight Compute Profiling Guide, \"Memory Workload Analysis\" (local memory spilling). 10 %: "
     "measured, tests/data/ncu/raw.csv: 100 % in the spill case, 0 in all others",
     {"occupancy-and-registers"},
     "register spills local memory launch bounds"},
    {"atomics",
     "atomics",
     30,
     {{"lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed", nullptr, true, 60},
      {kDram, nullptr, false, 60}},
     "",
     "",
     "The atomic unit of one L2 slice is busy nearly all the time: many threads update few "
     "addresses.",
     "Add up within the warp and the block first (shuffles, shared memory), keep private copies "
     "and merge them at the end, or spread the addresses.",
     "measured, tests/data/ncu/raw.csv: 80 % in the atomics case, at most 0.7 % in all others; 60 "
     "% as in rule SOLBottleneck",
     {"warp-reduction-and-scan"},
     "atomic contention histogram privatization warp aggregated atomics"},
    {"divergence",
     "divergence",
     40,
     {{kLanes, nullptr, false, 24}, {kIssue, nullptr, true, 60}},
     "",
     "",
     "Instructions are issued for warps of which only a part of the lanes takes part.",
     "Regroup the work so that the lanes of a warp take the same branch (sort, compact, one case a "
     "warp), and make short branches predicated.",
     "Nsight Compute 2025.3, rule ThreadDivergence (sections/ThreadDivergence.py): fewer than 24 "
     "threads an instruction; issue above 60 %: else the instructions are not what limits",
     {"profile-with-nsight-compute"},
     "warp divergence regroup work by branch"},
};

}  // namespace

std::span<const AdviceRule> ObstacleRules() { return kRules; }

}  // namespace kb
