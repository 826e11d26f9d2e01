// Any bytes as launch.yaml: findings, each with a mend; and if there is no error, then each
// workload has a plan within CUDA's limits that survives its way to the worker.
#include <cstdint>

#include "kb/json.h"
#include "spec_folder.h"

namespace {

void CheckPlan(const kb::RunPlan& plan) {
  for (const kb::LaunchPlan& launch : plan.launches) {
    SpecFolder::Check(launch.block[0] * launch.block[1] * launch.block[2] <= 1024);
    SpecFolder::Check(launch.shared_bytes <= 227 << 10);
    for (size_t i = 0; i < 3; ++i) {
      SpecFolder::Check(launch.grid[i] >= 1 && launch.block[i] >= 1);
      SpecFolder::Check(launch.grid[i] % launch.cluster[i] == 0);
    }
  }
  const std::string json = kb::WriteJson(kb::ToValue(plan));
  const auto parsed = kb::ParseJson(json);
  SpecFolder::Check(parsed.has_value());
  const auto again = kb::RunPlanFromValue(*parsed);
  SpecFolder::Check(again && kb::WriteJson(kb::ToValue(*again)) == json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const SpecFolder files;
  static const kb::LoadedCase loaded_case = kb::LoadCase(files.folder());
  SpecFolder::Check(loaded_case.ok());
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  files.Write("candidates/naive/launch.yaml", text);
  const kb::LoadedCandidate loaded = kb::LoadCandidate(files.candidate(), loaded_case.value);
  SpecFolder::CheckFindings(loaded.diagnostics);
  if (const auto value = kb::ParseJson(text)) static_cast<void>(kb::RunPlanFromValue(*value));
  if (!loaded.ok()) return 0;
  for (const kb::Workload& workload : loaded_case.value.check) {
    const kb::Planned planned = kb::PlanRun(loaded_case.value, loaded.value, workload.axes);
    SpecFolder::Check(planned.plan.has_value());
    CheckPlan(*planned.plan);
  }
  return 0;
}
