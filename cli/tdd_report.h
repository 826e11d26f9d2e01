// What a person reads of an evaluation: its verdict, a line a stage, a table of times.
#pragma once

#include <string>
#include <vector>

#include "tdd/evaluation.h"

namespace kb {

// "axpy-f32 / float4: PASSED", stages, measured times with intervals. Fits `columns`.
[[nodiscard]] std::string DrawEvaluation(const Evaluation& evaluation, int columns);

// A line an evaluation: case, candidate, verdict, red score, best ratio, roofline, seconds.
[[nodiscard]] std::string DrawEvaluations(const std::vector<Evaluation>& evaluations, int columns);

// 0 if all passed; 2 if one was skipped or is the machine's fault; else 1.
[[nodiscard]] int ExitCodeOf(const std::vector<Evaluation>& evaluations);

}  // namespace kb
