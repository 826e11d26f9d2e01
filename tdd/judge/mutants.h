// Wrong kernels that need no GPU: the right outputs, spoilt in the ways in which kernels go wrong.
#pragma once

#include <string>
#include <vector>

#include "tdd/judge/task.h"

namespace kb::test::internal {

// Spoils one output (rounded values) as the mutant does; false: no such mutant. Where the mutant
// has nothing to do ("transposed" of a vector) the values stay: it is then equivalent.
[[nodiscard]] bool Spoil(const std::string& mutant, const WorkloadTask& workload,
                         const Inputs& inputs, const TensorTask& output,
                         std::vector<double>* values);

}  // namespace kb::test::internal
