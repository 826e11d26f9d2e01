#include "indexer/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are read in place");

constexpr uint64_t kMaxHeaderBytes = 16u << 20;

struct TypeName {
  const char* name;
  Tensor::Type type;
  int bytes;
};
constexpr TypeName kTypes[] = {
    {"F16", Tensor::Type::kF16, 2}, {"BF16", Tensor::Type::kBf16, 2},
    {"F32", Tensor::Type::kF32, 4}, {"F64", Tensor::Type::kF64, 8},
    {"I8", Tensor::Type::kI8, 1},   {"I32", Tensor::Type::kI32, 4},
    {"I64", Tensor::Type::kI64, 8},
};

int BytesOf(Tensor::Type type) {
  for (const TypeName& known : kTypes) {
    if (known.type == type) return known.bytes;
  }
  return 1;
}

template <typename T>
T Load(std::string_view bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

// IEEE 754 binary16.
double FromHalf(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

}  // namespace

int64_t Tensor::size() const { return static_cast<int64_t>(bytes.size()) / BytesOf(type); }

double Tensor::operator[](int64_t i) const {
  switch (type) {
    case Type::kF16:
      return FromHalf(Load<uint16_t>(bytes, i));
    case Type::kBf16:
      return std::bit_cast<float>(static_cast<uint32_t>(Load<uint16_t>(bytes, i)) << 16);
    case Type::kF32:
      return Load<float>(bytes, i);
    case Type::kF64:
      return Load<double>(bytes, i);
    case Type::kI8:
      return Load<int8_t>(bytes, i);
    case Type::kI32:
      return Load<int32_t>(bytes, i);
    case Type::kI64:
      return static_cast<double>(Load<int64_t>(bytes, i));
  }
  return 0;
}

struct SafeTensors::Rep {
  std::string path;
  std::string bytes;
  Value header;
  std::string_view data;

  [[noreturn]] void Fail(std::string_view why) const {
    throw Error(fmt::format("{}: {}: fetch the file again", Printable(path), why));
  }
};

SafeTensors::SafeTensors(std::string path, std::string bytes) : rep_(std::make_unique<Rep>()) {
  rep_->path = std::move(path);
  rep_->bytes = std::move(bytes);
  const std::string_view all = rep_->bytes;
  if (all.size() < 8) rep_->Fail("shorter than a safetensors header");
  const auto length = Load<uint64_t>(all, 0);
  if (length > kMaxHeaderBytes || length > all.size() - 8) {
    rep_->Fail(fmt::format("its header claims {} bytes, the file has {}", length, all.size()));
  }
  std::string why;
  auto header = ParseJson(all.substr(8, length), &why);
  if (!header || !header->IsMap()) rep_->Fail("its header is no JSON object: " + why);
  rep_->header = *std::move(header);
  rep_->data = all.substr(8 + length);
}

SafeTensors::~SafeTensors() = default;

std::optional<Tensor> SafeTensors::Find(std::string_view name) const {
  if (!rep_->header.Has(name)) return std::nullopt;
  const Value& entry = rep_->header[name];
  Tensor tensor;
  const TypeName* type = nullptr;
  for (const TypeName& known : kTypes) {
    if (entry["dtype"].AsString() == known.name) type = &known;
  }
  if (type == nullptr) {
    rep_->Fail(fmt::format("tensor {} has the type '{}', which is not supported", name,
                           Printable(entry["dtype"].ToText())));
  }
  tensor.type = type->type;
  uint64_t size = static_cast<uint64_t>(type->bytes);
  for (const Value& extent : entry["shape"].AsList()) {
    const int64_t n = extent.AsInt(-1);
    tensor.shape.push_back(n);
    if (n < 0 || __builtin_mul_overflow(size, static_cast<uint64_t>(n), &size)) {
      rep_->Fail(fmt::format("tensor {} has no possible shape", name));
    }
  }
  const Value::List& offsets = entry["data_offsets"].AsList();
  const int64_t begin = offsets.size() == 2 ? offsets[0].AsInt(-1) : -1;
  const int64_t end = offsets.size() == 2 ? offsets[1].AsInt(-1) : -1;
  if (begin < 0 || end < begin || end > static_cast<int64_t>(rep_->data.size())) {
    rep_->Fail(fmt::format("tensor {} lies outside the file ({} bytes of data): cut short?", name,
                           rep_->data.size()));
  }
  tensor.bytes = rep_->data.substr(begin, end - begin);
  if (size != tensor.bytes.size()) {
    rep_->Fail(fmt::format("tensor {} has {} bytes, its shape asks for {}", name,
                           tensor.bytes.size(), size));
  }
  return tensor;
}

}  // namespace kb
