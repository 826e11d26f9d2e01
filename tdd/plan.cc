#include "tdd/plan.h"

#include <algorithm>
#include <cmath>

#include "tdd/expression.h"

namespace kb {
namespace {

constexpr size_t kMaxEntries = 256;  // of each list in a plan

constexpr std::array<const char*, 3> kRoles = {"input", "output", "workspace"};

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

// 1 to 8 bytes, or "" if `hex` is something else.
std::string FromHex(std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (hex.size() % 2 != 0 || hex.size() > 16) return "";
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    const size_t high = kDigits.find(hex[i]), low = kDigits.find(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return "";
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

Value Numbers(const auto& numbers) {
  Value list{Value::List()};
  for (const auto number : numbers) list.Add(Value(number));
  return list;
}

// Reads lists and fields; what has the wrong shape makes `ok` false, and reading goes on.
class PlanReader {
 public:
  explicit PlanReader(const Value& value) : value_(value) {}

  std::optional<RunPlan> Whole() {
    RunPlan plan;
    for (const Value& v : List(value_["buffers"])) plan.buffers.push_back(Buffer(v));
    for (const Value& v : List(value_["maps"])) plan.maps.push_back(Map(v));
    for (const Value& v : List(value_["launches"])) plan.launches.push_back(Launch(v));
    plan.axes = Integers(value_["axes"], INT64_MIN);
    for (const Value& v : List(value_["scalars"])) {
      Require(v.IsNumber() && std::isfinite(v.AsDouble()));
      plan.scalars.push_back(v.AsDouble());
    }
    return ok_ ? std::optional<RunPlan>(std::move(plan)) : std::nullopt;
  }

 private:
  void Require(bool holds) { ok_ = ok_ && holds; }

  const Value::List& List(const Value& value) {
    Require(value.IsList() && value.AsList().size() <= kMaxEntries);
    return ok_ ? value.AsList() : Value().AsList();
  }
  int64_t Integer(const Value& value, int64_t lowest, int64_t highest = INT64_MAX) {
    Require(value.IsInt() && value.AsInt() >= lowest && value.AsInt() <= highest);
    return value.AsInt();
  }
  std::vector<int64_t> Integers(const Value& value, int64_t lowest) {
    std::vector<int64_t> numbers;
    for (const Value& v : List(value)) numbers.push_back(Integer(v, lowest));
    return numbers;
  }
  std::array<int64_t, 3> Triple(const Value& value) {
    const std::vector<int64_t> numbers = Integers(value, 1);
    Require(numbers.size() == 3);
    return ok_ ? std::array<int64_t, 3>{numbers[0], numbers[1], numbers[2]}
               : std::array<int64_t, 3>{1, 1, 1};
  }
  // Becomes part of a file's name at the worker's side.
  std::string Name(const Value& value) {
    Require(IsSpecName(value.AsString()));
    return value.AsString();
  }

  BufferPlan Buffer(const Value& value) {
    BufferPlan buffer;
    const auto role = std::find(kRoles.begin(), kRoles.end(), value["role"].AsString());
    Require(role != kRoles.end() && value["zero"].IsBool());
    if (ok_) buffer.role = static_cast<BufferPlan::Role>(role - kRoles.begin());
    buffer.name = Name(value["name"]);
    buffer.bytes = Integer(value["bytes"], 1);
    buffer.zero = value["zero"].AsBool();
    return buffer;
  }

  TensorMapPlan Map(const Value& value) {
    TensorMapPlan map;
    map.name = Name(value["name"]);
    map.buffer = Name(value["buffer"]);
    map.data_type = static_cast<int>(Integer(value["data_type"], 0, 64));
    map.dims = Integers(value["dims"], 1);
    map.strides = Integers(value["strides"], 0);
    map.box = Integers(value["box"], 1);
    map.swizzle_bytes = static_cast<int>(Integer(value["swizzle_bytes"], 0, 128));
    const size_t rank = map.dims.size();
    Require(rank >= 1 && rank <= 5 && map.box.size() == rank && map.strides.size() + 1 == rank);
    return map;
  }

  ArgPlan Arg(const Value& value) {
    ArgPlan arg;
    Require(value.IsMap() && value.AsMap().size() == 1);
    if (value.Has("buffer")) {
      arg.buffer = Name(value["buffer"]);
    } else if (value.Has("map")) {
      arg.map = Name(value["map"]);
    } else {
      arg.bytes = FromHex(value["bytes"].AsString());
      Require(!arg.bytes.empty());
    }
    return arg;
  }

  LaunchPlan Launch(const Value& value) {
    LaunchPlan launch;
    launch.kernel = value["kernel"].AsString();
    Require(!launch.kernel.empty() && launch.kernel.size() <= 128);
    launch.grid = Triple(value["grid"]);
    launch.block = Triple(value["block"]);
    launch.cluster = Triple(value["cluster"]);
    launch.shared_bytes = Integer(value["shared_bytes"], 0, 1 << 20);
    for (const Value& v : List(value["args"])) launch.args.push_back(Arg(v));
    return launch;
  }

  const Value& value_;
  bool ok_ = true;
};

Value ToValue(const ArgPlan& arg) {
  Value value;
  if (!arg.buffer.empty()) return value.Set("buffer", arg.buffer);
  if (!arg.map.empty()) return value.Set("map", arg.map);
  return value.Set("bytes", ToHex(arg.bytes));
}

Value ToValue(const BufferPlan& buffer) {
  Value value;
  value.Set("role", kRoles[static_cast<size_t>(buffer.role)]).Set("name", buffer.name);
  return value.Set("bytes", buffer.bytes).Set("zero", buffer.zero);
}

Value ToValue(const TensorMapPlan& map) {
  Value value;
  value.Set("name", map.name).Set("buffer", map.buffer).Set("data_type", map.data_type);
  value.Set("dims", Numbers(map.dims)).Set("strides", Numbers(map.strides));
  return value.Set("box", Numbers(map.box)).Set("swizzle_bytes", map.swizzle_bytes);
}

Value ToValue(const LaunchPlan& launch) {
  Value value;
  value.Set("kernel", launch.kernel).Set("grid", Numbers(launch.grid));
  value.Set("block", Numbers(launch.block)).Set("cluster", Numbers(launch.cluster));
  Value args{Value::List()};
  for (const ArgPlan& arg : launch.args) args.Add(ToValue(arg));
  return value.Set("shared_bytes", launch.shared_bytes).Set("args", args);
}

Value ListOfValues(const auto& items) {
  Value list{Value::List()};
  for (const auto& item : items) list.Add(ToValue(item));
  return list;
}

}  // namespace

Value ToValue(const RunPlan& plan) {
  Value value;
  value.Set("buffers", ListOfValues(plan.buffers)).Set("maps", ListOfValues(plan.maps));
  value.Set("launches", ListOfValues(plan.launches));
  return value.Set("axes", Numbers(plan.axes)).Set("scalars", Numbers(plan.scalars));
}

std::optional<RunPlan> RunPlanFromValue(const Value& value) { return PlanReader(value).Whole(); }

}  // namespace kb
