// Where the numbers were measured.
#pragma once

#include <string>

namespace kb::bench {

// CPU model, cores, kernel, compiler; one line.
[[nodiscard]] std::string MachineLine();

// "load average 0.52 0.60 0.58": above the number of cores, wall times say little.
[[nodiscard]] std::string LoadLine();

}  // namespace kb::bench
