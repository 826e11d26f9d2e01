// JSON Schema 2020-12 of what the tools answer.
#pragma once

#include "kb/value.h"

namespace kb {

[[nodiscard]] Value SearchOutputSchema();
[[nodiscard]] Value GetOutputSchema();
[[nodiscard]] Value ContextOutputSchema();
[[nodiscard]] Value TraceOutputSchema();
[[nodiscard]] Value AdviseOutputSchema();
[[nodiscard]] Value StatusOutputSchema();

}  // namespace kb
