// Tensors as files: raw, little-endian, row-major. Read and written by all cores.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tdd/judge/numbers.h"

namespace kb::test::internal {

// Values [begin, begin + n) of a tensor; `begin` is even.
using Source = std::function<void(int64_t begin, int64_t n, double* values)>;

// All values of a source, rounded to the format.
[[nodiscard]] std::vector<double> Collect(const Format& format, int64_t count,
                                          const Source& source);
// Ends the judge with INFRA_ERROR if there is no room.
void WriteTensor(const std::string& path, const Format& format, int64_t count,
                 const Source& source);
// nullopt, and why: no such file, not a plain file, or not the right size.
[[nodiscard]] std::optional<std::vector<double>> ReadTensor(const std::string& path,
                                                            const Format& format, int64_t count,
                                                            std::string* why);

}  // namespace kb::test::internal
