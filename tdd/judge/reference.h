// The right answer for one set of inputs, and whether the case's reference deserves the name.
#pragma once

#include <string>
#include <vector>

#include "tdd/judge/task.h"

namespace kb::test::internal {

// The inputs of the `run`-th run, rounded; `chosen` overrides case.yaml.
[[nodiscard]] Inputs DrawInputs(const WorkloadTask& workload, uint64_t run,
                                const ByName<Filling>& chosen = {});
// Writes in.<name> for all of them.
void WriteInputs(const WorkloadTask& workload, const Inputs& inputs, const std::string& folder);
// The same files, without keeping the values.
void WriteDrawnInputs(const WorkloadTask& workload, uint64_t run, const std::string& folder);

// What the case's Reference gives. Ends the judge with INVALID_REFERENCE if it throws or changes
// a size, or, unless `chosen`, gives what the output's dtype cannot hold: NaN, infinity, overflow,
// a fraction where an integer is asked for.
[[nodiscard]] Outputs RightOutputs(const WorkloadTask& workload, const Inputs& inputs, bool chosen);

// All outputs, rounded to their dtypes.
[[nodiscard]] ByName<std::vector<double>> Rounded(const Outputs& outputs);

// Ends the judge with INVALID_REFERENCE(input-independent) if some output is the same for two
// draws of the inputs in each of the workloads.
void CheckThatInputsMatter();

}  // namespace kb::test::internal
