#include "tdd/dtype.h"

#include <array>

namespace kb {
namespace {

struct Row {
  Dtype dtype;
  const char* name;
  std::string_view framework;  // as PyTorch, JAX and FlashInfer spell it
  int bytes;
};

// In the order of Dtype.
constexpr std::array<Row, 9> kRows = {{{Dtype::kF64, "f64", "float64", 8},
                                       {Dtype::kF32, "f32", "float32", 4},
                                       {Dtype::kF16, "f16", "float16", 2},
                                       {Dtype::kBf16, "bf16", "bfloat16", 2},
                                       {Dtype::kI64, "i64", "int64", 8},
                                       {Dtype::kI32, "i32", "int32", 4},
                                       {Dtype::kU32, "u32", "uint32", 4},
                                       {Dtype::kI8, "i8", "int8", 1},
                                       {Dtype::kU8, "u8", "uint8", 1}}};
static_assert(kRows[static_cast<size_t>(Dtype::kU8)].dtype == Dtype::kU8);

}  // namespace

const char* DtypeName(Dtype dtype) { return kRows[static_cast<size_t>(dtype)].name; }

int DtypeBytes(Dtype dtype) { return kRows[static_cast<size_t>(dtype)].bytes; }

std::optional<Dtype> ParseDtype(std::string_view name) {
  for (const Row& row : kRows) {
    if (name == row.name || name == row.framework) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace kb
