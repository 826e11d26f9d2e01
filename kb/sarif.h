// Diagnostics as SARIF 2.1.0 (OASIS), for code-scanning services.
#pragma once

#include <string>

#include "kb/diagnostic.h"

namespace kb {

// One run with the rules used, deterministic bytes. Paths become relative URIs with
// percent-encoding; line 0 has no region.
[[nodiscard]] std::string WriteSarif(const Diagnostics& diagnostics, std::string_view version);

}  // namespace kb
