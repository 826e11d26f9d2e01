// Ranks 60 to 85: what is left when no unit is near its limit.
#include "cli/advise_rules.h"

namespace kb {
namespace {

constexpr const char kCompute[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kMemory[] = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kIssue[] = "smsp__issue_active.avg.pct_of_peak_sustained_active";
constexpr const char kOccupancy[] = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char kWaves[] = "launch__waves_per_multiprocessor";
constexpr const char kBetween[] = "smsp__average_warp_latency_per_inst_issued.ratio";
constexpr const char kSpeedOfLight[] =
    "Nsight Compute 2025.3, rule SOLBottleneck (sections/SpeedOfLight.py): below 60 % of compute "
    "and memory peak is latency";
constexpr const char kStalls[] =
    "Nsight Compute 2025.3, rule CPIStall (sections/CPIStall.py): issue below 80 %, and the reason "
    "takes at least 30 % of the time between two instructions of a warp; 60 % as in rule "
    "SOLBottleneck";

// What a warp waits for, as a share of the time between two of its instructions.
constexpr AdviceRule Stall(const char* id, const char* metric, const char* says, const char* advice,
                           const char* first_skill, const char* second_skill, const char* query) {
  return {id,
          "latency",
          80,
          {{metric, kBetween, true, 0.3},
           {kIssue, nullptr, false, 80},
           {kCompute, nullptr, false, 60},
           {kMemory, nullptr, false, 60}},
          "",
          "occupancy",
          says,
          advice,
          kStalls,
          {first_skill, second_skill},
          query};
}

constexpr AdviceRule kRules[] = {
    {"launch-partial-wave",
     "launch",
     60,
     {{kWaves, nullptr, false, 1},
      {kOccupancy, nullptr, false, 50},
      {kCompute, nullptr, false, 60},
      {kMemory, nullptr, false, 60}},
     "",
     "",
     "The grid does not fill the multiprocessors: each has few warps, too few to hide latency.",
     "More blocks or more threads: smaller tiles, split-K, several problems in one launch; or more "
     "independent work a thread.",
     "waves below 1: Nsight Compute 2025.3, rule SOLBottleneck. Occupancy below 50 %: chosen; "
     "tests/data/ncu/raw.csv has 3 % in the occupancy case, 94 % and more in the latency cases",
     {"launch-overhead-and-graphs", "occupancy-and-registers"},
     "grid too small few warps per SM split work"},
    {"occupancy",
     "occupancy",
     70,
     {{kOccupancy, nullptr, false, 50},
      {kCompute, nullptr, false, 60},
      {kMemory, nullptr, false, 60}},
     "",
     "",
     "Nothing is near its limit, and few warps are there to hide latency.",
     "Lift what limits the warps (see \"also\"), or let each warp have more in flight: independent "
     "loads before the first use, asynchronous copies in several stages. Kernels with deep "
     "pipelines run well at low occupancy: then look at the stalls.",
     "Nsight Compute Profiling Guide, \"Occupancy\"; 60 % as in rule SOLBottleneck. 50 %: chosen; "
     "tests/data/ncu/raw.csv has 3 % in the occupancy case, 94 % and more in the latency cases",
     {"occupancy-and-registers", "async-copy-pipelines"},
     "low occupancy latency hiding"},
    Stall(
        "latency-long-scoreboard",
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
        "Warps wait for data from global or local memory; nothing is near its limit.",
        "More loads in flight: independent loads before the first use, unrolling, 16-byte loads, "
        "cp.async or TMA stages, more warps. A chain of dependent loads (lists, trees, index of an "
        "index) must be broken up or interleaved with others.",
        "occupancy-and-registers", "async-copy-pipelines",
        "long scoreboard stall dependent loads latency hiding prefetch"),
    Stall("latency-short-scoreboard",
          "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
          "Warps wait for shared memory or special functions; nothing is near its limit.",
          "Independent work between the load and its use; fewer, wider shared accesses; fewer "
          "transcendental calls.",
          "shared-memory-banks", "occupancy-and-registers",
          "short scoreboard stall shared memory latency"),
    Stall("latency-barrier", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
          "Warps wait for others at a barrier.",
          "Even out the work before it, use smaller blocks (more of them an SM), fewer barriers, "
          "warp-level operations in place of block-wide ones.",
          "warp-reduction-and-scan", "async-copy-pipelines",
          "barrier stall __syncthreads warp shuffle"),
    Stall("latency-wait", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
          "Warps wait for the fixed latency of their own last instruction.",
          "Independent chains: several accumulators, unrolling, more warps.",
          "occupancy-and-registers", nullptr,
          "instruction level parallelism independent accumulators"),
    Stall("latency-mio-throttle",
          "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
          "The queue of shared-memory and special instructions is full.",
          "Fewer and wider shared accesses, fewer special functions and shuffles close together.",
          "shared-memory-banks", "warp-reduction-and-scan",
          "mio throttle stall shared memory instructions"),
    Stall("latency-lg-throttle",
          "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
          "The queue of global and local memory instructions is full.",
          "Fewer and wider accesses (16 bytes a thread), no spills, coalesced lanes.",
          "coalesced-memory-access", "occupancy-and-registers", "lg throttle stall vector loads"),
    Stall("latency-math-pipe-throttle",
          "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
          "Warps wait for an arithmetic pipe that is used in bursts.",
          "Interleave other work with the arithmetic, or spread it over pipes.",
          "profile-with-nsight-compute", nullptr, "math pipe throttle stall"),
    Stall("latency-gmma", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio",
          "Warps wait for wgmma.",
          "More stages in flight, wait_group with a larger count, two consumer warpgroups that "
          "alternate.",
          "tensor-core-mma", "async-copy-pipelines", "wgmma stall pipeline stages warpgroups"),
    Stall(
        "latency-no-instruction",
        "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
        "Warps wait for instructions: the code does not fit the instruction cache, or jumps much.",
        "Unroll and inline less; keep the hot loop short.", "profile-with-nsight-compute", nullptr,
        "instruction cache miss smaller unroll"),
    Stall("latency-imc-miss", "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
          "Warps wait for constants.",
          "Index constant memory uniformly across the warp; put data that lanes index differently "
          "into "
          "global or shared memory.",
          "profile-with-nsight-compute", nullptr, "constant cache miss indexed constants"),
    Stall("latency-membar", "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
          "Warps wait at memory fences.", "Fewer __threadfence; write more before each one.",
          "launch-overhead-and-graphs", nullptr, "memory fence stall __threadfence"),
    Stall("latency-branch-resolving",
          "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
          "Warps wait for branch targets.",
          "Fewer and longer basic blocks: unroll, predicate, hoist conditions.",
          "profile-with-nsight-compute", nullptr, "branch resolving stall"),
    Stall("latency-sleeping", "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio",
          "Warps sleep in __nanosleep or poll.",
          "Find what they wait for; a barrier in shared memory (mbarrier) wakes without polling.",
          "async-copy-pipelines", nullptr, "spin wait polling mbarrier"),
    Stall("latency-tex-throttle",
          "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
          "The queue of texture instructions is full.",
          "Fewer texture and surface accesses close together; plain loads where no filtering is "
          "needed.",
          "coalesced-memory-access", nullptr, "texture throttle stall"),
    {"latency",
     "latency",
     85,
     {{kCompute, nullptr, false, 60}, {kMemory, nullptr, false, 60}},
     "",
     "",
     "Neither compute nor memory is near its limit, so warps wait; no one reason stands out, or "
     "the report names none.",
     "Take a report with ncu --set full, page raw: the stall reasons say what the warps wait for.",
     kSpeedOfLight,
     {"profile-with-nsight-compute", "occupancy-and-registers"},
     "latency bound kernel stall reasons"},
};

}  // namespace

std::span<const AdviceRule> LatencyRules() { return kRules; }

}  // namespace kb
