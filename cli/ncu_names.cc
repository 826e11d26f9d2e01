// The raw names behind the words of the details page, as the section files of Nsight Compute
// 2025.3 pair them; tests/cli/ncu_csv_test.cc compares both pages of the same run.
#include "cli/ncu_csv.h"

namespace kb {
namespace {

struct Name {
  std::string_view section, metric, raw;
};

constexpr std::string_view kLight = "GPU Speed Of Light Throughput";
constexpr std::string_view kMemory = "Memory Workload Analysis";
constexpr std::string_view kScheduler = "Scheduler Statistics";
constexpr std::string_view kWarps = "Warp State Statistics";
constexpr std::string_view kLaunch = "Launch Statistics";
constexpr std::string_view kOccupancy = "Occupancy";

constexpr Name kNames[] = {
    {kLight, "Duration", "gpu__time_duration.sum"},
    {kLight, "Elapsed Cycles", "gpc__cycles_elapsed.max"},
    {kLight, "SM Active Cycles", "sm__cycles_active.avg"},
    {kLight, "Compute (SM) Throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "Memory Throughput",
     "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "DRAM Throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {kLight, "L1/TEX Cache Throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {kLight, "L2 Cache Throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {kMemory, "Local Memory Spilling Request Overhead", "derived__local_spilling_requests_pct"},
    {kMemory, "L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},
    {kMemory, "L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
    {kScheduler, "One or More Eligible", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {kWarps, "Warp Cycles Per Issued Instruction",
     "smsp__average_warp_latency_per_inst_issued.ratio"},
    {kWarps, "Avg. Active Threads Per Warp", "smsp__thread_inst_executed_per_inst_executed.ratio"},
    {kLaunch, "Grid Size", "launch__grid_size"},
    {kLaunch, "Registers Per Thread", "launch__registers_per_thread"},
    {kLaunch, "# SMs", "launch__sm_count"},
    {kLaunch, "Waves Per SM", "launch__waves_per_multiprocessor"},
    {kOccupancy, "Block Limit Barriers", "launch__occupancy_limit_barriers"},
    {kOccupancy, "Block Limit SM", "launch__occupancy_limit_blocks"},
    {kOccupancy, "Block Limit Registers", "launch__occupancy_limit_registers"},
    {kOccupancy, "Block Limit Shared Mem", "launch__occupancy_limit_shared_mem"},
    {kOccupancy, "Block Limit Warps", "launch__occupancy_limit_warps"},
    {kOccupancy, "Theoretical Occupancy", "sm__maximum_warps_per_active_cycle_pct"},
    {kOccupancy, "Achieved Occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"},
};

}  // namespace

std::string_view RawMetricName(std::string_view section, std::string_view metric) {
  for (const Name& name : kNames) {
    if (name.metric == metric && name.section == section) return name.raw;
  }
  return "";
}

}  // namespace kb
