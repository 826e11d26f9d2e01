// Reads tensors of a safetensors file: an 8-byte little-endian header length, a JSON header
// (name -> dtype, shape, data_offsets), the raw tensors. Source: the safetensors README.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

// A view into the file's bytes, which the reader keeps.
struct Tensor {
  enum class Type { kF16, kBf16, kF32, kF64, kI8, kI32, kI64 };
  Type type = Type::kF32;
  std::vector<int64_t> shape;
  std::string_view bytes;  // exactly the shape's elements, row-major, little-endian

  [[nodiscard]] int64_t size() const;                // elements
  [[nodiscard]] double operator[](int64_t i) const;  // element i, flat
};

class SafeTensors {
 public:
  // Throws Error with `path` if the bytes are damaged: says how.
  SafeTensors(std::string path, std::string bytes);
  ~SafeTensors();

  // nullopt if the file has no tensor of that name. Throws Error if its type, shape or offsets
  // are wrong.
  [[nodiscard]] std::optional<Tensor> Find(std::string_view name) const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
