// Diagnostics as SARIF 2.1.0 (OASIS), for code-scanning services.
#pragma once

#include <string>

#include "kb/diagnostic.h"

namespace kb {

// One run with the rules used, deterministic bytes. Paths become relative URIs with
// percent-encoding (file: URIs if they begin at the root); line 0 has no region. kBlock is
// "error". Safety rules are tagged "security".
[[nodiscard]] std::string WriteSarif(const Diagnostics& diagnostics, std::string_view version);

}  // namespace kb
