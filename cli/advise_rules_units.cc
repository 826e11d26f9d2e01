// Rank 50: units that are near their limit. 55: the same for reports that name no unit.
#include "cli/advise_rules.h"

namespace kb {
namespace {

constexpr const char kCompute[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kMemory[] = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kDram[] = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char kIssue[] = "smsp__issue_active.avg.pct_of_peak_sustained_active";
constexpr const char kFma[] = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active";
constexpr const char kWavefronts[] =
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
constexpr const char kSharedWavefronts[] =
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
constexpr const char kSpeedOfLight[] =
    "Nsight Compute 2025.3, rule SOLBottleneck (sections/SpeedOfLight.py): below 60 % of compute "
    "and memory peak is latency";
constexpr const char kPipes[] =
    "Nsight Compute 2025.3, rule HighPipeUtilization (sections/HighPipeUtilization.py): from 60 % "
    "a pipe is well used, from 80 % it is the bottleneck";
constexpr const char kL2[] =
    "Nsight Compute Profiling Guide, \"Memory Tables\" (L2); 60 % as in rule SOLBottleneck";

constexpr AdviceRule kRules[] = {
    {"dram",
     "dram",
     50,
     {{kDram, nullptr, true, 60}},
     "",
     "",
     "Device memory is near its bandwidth.",
     "Compare dram__bytes_read.sum and dram__bytes_write.sum with the bytes that the work must "
     "move. If they are more, mend re-reads and access patterns; if not, only fewer bytes help: "
     "fuse neighbouring kernels, use narrower types. Up to some 85 % more bytes in flight may "
     "still help: wider loads, asynchronous copies.",
     "Nsight Compute 2025.3, rule SOLBottleneck (sections/SpeedOfLight.py): below 60 % of compute "
     "and memory peak is latency. 85 %: measured, tests/data/ncu/raw.csv: streaming kernels with "
     "wide loads have 83 to 91 %",
     {"coalesced-memory-access", "async-copy-pipelines"},
     "memory bound kernel near DRAM bandwidth, fewer bytes, fusion"},
    {"l2-read",
     "l2",
     50,
     {{"lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed", nullptr, true, 60}},
     "",
     "",
     "The way from L2 to the multiprocessors is near its bandwidth.",
     "Read less from L2: keep what is used again in registers or shared memory, share tiles "
     "(multicast on sm_90), use larger tiles.",
     kL2,
     {"async-copy-pipelines", "coalesced-memory-access"},
     "L2 bandwidth bound data reuse tiling shared memory"},
    {"l2-write",
     "l2",
     50,
     {{"lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed", nullptr, true, 60}},
     "",
     "",
     "The way from the multiprocessors to L2 is near its bandwidth.",
     "Write less, and whole sectors: coalesce stores, combine partial results before they are "
     "written, avoid spills.",
     kL2,
     {"coalesced-memory-access"},
     "L2 write bandwidth coalesced stores"},
    {"l2-sectors",
     "l2",
     50,
     {{"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", nullptr, true, 60}},
     "",
     "",
     "L2 looks up nearly as many sectors as it can.",
     "Touch fewer sectors: coalesce, and keep what is used again on the multiprocessor.",
     kL2,
     {"coalesced-memory-access"},
     "L2 sectors coalescing"},
    {"l2-tags",
     "l2",
     50,
     {{"lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed", nullptr, true, 60}},
     "",
     "",
     "L2 looks up nearly as many tags as it can: many small or scattered requests.",
     "Make requests fewer and wider: coalesce, 16-byte accesses, fewer atomics.",
     kL2,
     {"coalesced-memory-access"},
     "scattered memory accesses coalescing vector loads"},
    {"shared",
     "shared",
     50,
     {{kSharedWavefronts, nullptr, true, 60}},
     "",
     "",
     "Shared memory serves nearly as many wavefronts as it can.",
     "Remove bank conflicts first, then move fewer bytes through shared memory: wider accesses, "
     "more results a thread held in registers, operands of tensor cores by ldmatrix or wgmma.",
     "Nsight Compute Profiling Guide, \"Memory Tables\" (shared memory); 60 % as in rule "
     "SOLBottleneck",
     {"shared-memory-banks", "tensor-core-mma"},
     "shared memory bandwidth bank conflicts"},
    {"l1-data",
     "l1",
     50,
     {{kWavefronts, nullptr, true, 60}, {kSharedWavefronts, kWavefronts, false, 0.5}},
     "",
     "",
     "The data stage of L1 is near its limit, mostly with global or local accesses.",
     "Fewer and wider loads: 16 bytes a thread, values that several threads use through shared "
     "memory or shuffles, more results a thread.",
     "Nsight Compute Profiling Guide, \"Memory Tables\" (L1/TEX); 60 % as in rule SOLBottleneck",
     {"coalesced-memory-access", "shared-memory-banks"},
     "L1 throughput load store unit bound, register tiling"},
    {"l1-tags",
     "l1",
     50,
     {{"l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum.pct_of_peak_sustained_elapsed",
       nullptr, true, 60}},
     "",
     "",
     "The tag stage of L1 is near its limit: each load touches many lines.",
     "Let the lanes of a warp read neighbouring words, or stage the data in shared memory, where "
     "scattered reads are cheap.",
     "measured, tests/data/ncu/raw.csv: 98 % in the gather case, whose L1 throughput reads 12 %; "
     "60 % as in rule SOLBottleneck",
     {"coalesced-memory-access", "shared-memory-banks"},
     "uncoalesced gather many cache lines per request"},
    {"fp32",
     "fp32",
     50,
     {{kFma, nullptr, true, 60}},
     "",
     "",
     "The FMA pipes (fp32, and integer multiplication) are near their rate.",
     "If it is a matrix product, use tensor cores. Else do fewer operations: hoist, reuse, fuse "
     "multiply and add, packed half precision where the numbers allow it.",
     kPipes,
     {"tensor-core-mma"},
     "compute bound fp32 FMA pipe, use tensor cores"},
    {"fp64",
     "fp64",
     50,
     {{"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active", nullptr, true, 60}},
     "",
     "",
     "The fp64 pipe is near its rate.",
     "Is double precision needed throughout? Look for literals without f and for sums that fp32 "
     "with compensation would do; matrix products have fp64 tensor cores.",
     kPipes,
     {"reduction-and-softmax-numerics", "tensor-core-mma"},
     "double precision compensated summation fp32"},
    {"special",
     "special",
     50,
     {{"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", nullptr, true, 60}},
     "",
     "",
     "The pipe of special functions and conversions is near its rate.",
     "Fewer transcendental calls and conversions: exp2 with a folded factor, one reciprocal for "
     "many divisions, polynomials on the FMA pipes, vectorised conversions.",
     kPipes,
     {"reduction-and-softmax-numerics"},
     "exp transcendental functions special function unit bound"},
    {"integer",
     "integer",
     50,
     {{"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active", nullptr, true, 60}},
     "",
     "",
     "The ALU pipe (integer and logic operations, comparisons) is near its rate.",
     "Less index arithmetic: strength reduction, 32-bit indices, constants as template parameters, "
     "powers of two for divisors; move multiplications and shifts by constants to the FMA pipe.",
     kPipes,
     {"profile-with-nsight-compute"},
     "integer index arithmetic ALU bound"},
    {"tensor",
     "tensor",
     50,
     {{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", nullptr, true, 60}},
     "",
     "",
     "The tensor cores are near their rate for the instructions used.",
     "This is where a matrix kernel should be. More is to be had only by faster instructions "
     "(wgmma or tcgen05 in place of mma.sync, narrower types) or less work (sparsity, causal tiles "
     "skipped).",
     kPipes,
     {"tensor-core-mma"},
     "tensor core bound wgmma mma.sync fp8"},
    {"issue",
     "issue",
     50,
     {{kIssue, nullptr, true, 80}, {kFma, nullptr, false, 80}},
     "",
     "",
     "The schedulers issue an instruction in nearly every cycle, spread over several pipes.",
     "Fewer instructions: wider accesses, unrolling that removes index arithmetic, packed types, "
     "loop invariants hoisted.",
     "Nsight Compute 2025.3, rule CPIStall (sections/CPIStall.py): with issue above 80 % stalls do "
     "not matter. FMA below 80 %: else rule fp32",
     {"profile-with-nsight-compute"},
     "issue slot bound fewer instructions vectorize unroll"},
    {"l2-any",
     "l2",
     55,
     {{"lts__throughput.avg.pct_of_peak_sustained_elapsed", nullptr, true, 60},
      {kDram, nullptr, false, 60}},
     "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed",
     "",
     "L2 is near one of its limits; this report does not say which.",
     "Read less from L2, in whole sectors. The raw page of ncu --set full tells reads, writes and "
     "tags apart.",
     kSpeedOfLight,
     {"coalesced-memory-access"},
     "L2 bandwidth bound"},
    {"l1-any",
     "l1",
     55,
     {{"l1tex__throughput.avg.pct_of_peak_sustained_active", nullptr, true, 60},
      {kMemory, nullptr, true, 60}},
     kWavefronts,
     "",
     "L1 or shared memory is near its limit; this report does not say which.",
     "Look for bank conflicts and uncoalesced accesses. The raw page of ncu --set full tells them "
     "apart.",
     kSpeedOfLight,
     {"shared-memory-banks", "coalesced-memory-access"},
     "L1 shared memory throughput bound"},
    {"compute",
     "compute",
     55,
     {{kCompute, nullptr, true, 60}},
     "",
     "",
     "Some part of the multiprocessors is near its limit, none of those that the other rules know "
     "or that this report names.",
     "Read the breakdown of sm__throughput in the section Speed Of Light to see which pipe it is.",
     kSpeedOfLight,
     {"profile-with-nsight-compute"},
     "compute bound kernel pipe utilization"},
    {"memory",
     "memory",
     55,
     {{kMemory, nullptr, true, 60}},
     "",
     "",
     "Some part of the memory system is near its limit, none of those that the other rules know or "
     "that this report names.",
     "Read the breakdown of gpu__compute_memory_throughput in the section Speed Of Light to see "
     "which unit it is.",
     kSpeedOfLight,
     {"profile-with-nsight-compute"},
     "memory bound kernel breakdown"},
};

}  // namespace

std::span<const AdviceRule> UnitRules() { return kRules; }

}  // namespace kb
