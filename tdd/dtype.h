// The element types of tensors, by the names that case.yaml uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kb {

enum class Dtype { kF64, kF32, kF16, kBf16, kI64, kI32, kU32, kI8, kU8 };

[[nodiscard]] const char* DtypeName(Dtype dtype);  // "f64", "f32", "f16", "bf16", "i64", ...
// Also takes the names that frameworks use: "float32", "bfloat16", "int32", "uint8".
[[nodiscard]] std::optional<Dtype> ParseDtype(std::string_view name);
[[nodiscard]] int DtypeBytes(Dtype dtype);

}  // namespace kb
