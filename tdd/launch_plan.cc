// PlanRun: a candidate's expressions, worked out for one workload and held against CUDA's limits.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tdd/candidate.h"

namespace kb {
namespace {

constexpr int64_t kMaxBytes = int64_t{64} << 30;     // of all buffers
constexpr int64_t kMaxShared = 227 << 10;            // a block, by opt-in, since sm_90
constexpr int64_t kMaxParameterBytes = 4096;         // of one launch
constexpr int64_t kMaxCluster = 16;                  // 8 is portable
constexpr int64_t kMaxMapLength = int64_t{1} << 32;  // cuTensorMapEncodeTiled

// CUtensorMapDataType, of cuda.h; signed bytes travel as unsigned ones.
constexpr std::array<int, 9> kMapTypes = {8, 7, 6, 9, 5, 3, 2, 0, 0};

// Why a plan cannot be made: caught in PlanRun alone.
struct Fault {
  std::string why;
  int line = 0;
};

std::string Number(int64_t value) { return std::to_string(value); }

template <typename T>
std::string LittleEndian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// IEEE 754 bits of `value`, to nearest, ties to even.
uint16_t EncodeHalf(double value, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  // Below the least normal number, all have its exponent; 0 has none of its own.
  const int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  const double units = std::nearbyint(std::ldexp(std::fabs(value), fraction_bits - exponent));
  // units of a normal number is 2^fraction_bits or more; the sum carries into the exponent.
  const double field = units + std::ldexp(exponent + bias - 1, fraction_bits);
  const uint32_t bits = field >= infinity ? infinity : static_cast<uint32_t>(field);
  return static_cast<uint16_t>(bits | (std::signbit(value) ? 0x8000u : 0u));
}

std::string EncodeScalar(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return LittleEndian(value);
    case Dtype::kF32:
      return LittleEndian(static_cast<float>(value));
    case Dtype::kF16:
      return LittleEndian(EncodeHalf(value, 5, 10));
    case Dtype::kBf16:
      return LittleEndian(EncodeHalf(value, 8, 7));
    default:
      // Within int64: the case was checked.
      return LittleEndian(static_cast<int64_t>(value)).substr(0, DtypeBytes(dtype));
  }
}

// False: the type does not hold it.
bool EncodeInteger(int64_t value, Dtype type, std::string* bytes) {
  if (type == Dtype::kF64 || type == Dtype::kF32) {
    *bytes = EncodeScalar(static_cast<double>(value), type);
    return true;
  }
  const int bits = 8 * DtypeBytes(type);
  const bool is_unsigned = type == Dtype::kU32 || type == Dtype::kU8;
  if (bits < 64) {
    const int64_t lowest = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
    const int64_t highest = (int64_t{1} << (is_unsigned ? bits : bits - 1)) - 1;
    if (value < lowest || value > highest) return false;
  }
  *bytes = LittleEndian(value).substr(0, static_cast<size_t>(DtypeBytes(type)));
  return true;
}

class Planner {
 public:
  Planner(const Case& for_case, const Candidate& candidate, const Axes& axes)
      : case_(for_case), candidate_(candidate), axes_(axes) {
    for (const auto& [name, values] : candidate.params) {
      if (!values.empty()) axes_.insert({name, values[0]});
    }
  }

  RunPlan Whole() {
    AddBuffers();
    for (const TensorMapSpec& map : candidate_.tensor_maps) AddMap(map);
    if (candidate_.kind == CandidateKind::kHost) {
      AddHostArguments();
      return std::move(plan_);
    }
    for (const LaunchSpec& launch : candidate_.launches) AddLaunch(launch);
    if (plan_.launches.empty()) Stop("no kernel is launched: each 'when' is 0");
    return std::move(plan_);
  }

 private:
  [[noreturn]] void Stop(std::string why) const { throw Fault{std::move(why), line_}; }

  int64_t Of(const Expression& formula, const std::string& what) const {
    std::string why;
    const std::optional<int64_t> value = formula.Evaluate(axes_, &why);
    if (!value) Stop(what + ": '" + formula.text() + "': " + why);
    return *value;
  }
  int64_t Within(const Expression& formula, const std::string& what, int64_t lowest,
                 int64_t highest) const {
    const int64_t value = Of(formula, what);
    if (value < lowest || value > highest) {
      Stop(what + " is " + Number(value) + ", not " + Number(lowest) + " to " + Number(highest));
    }
    return value;
  }

  void AddBuffer(BufferPlan::Role role, const std::string& name, int64_t bytes, bool zero) {
    if (bytes > kMaxBytes - total_bytes_) Stop("its buffers hold more than 64 GiB");
    total_bytes_ += bytes;
    plan_.buffers.push_back({role, name, bytes, zero});
  }
  void AddTensors(BufferPlan::Role role, const std::vector<TensorSpec>& tensors) {
    for (const TensorSpec& tensor : tensors) {
      if (tensor.scalar) continue;
      std::string why;
      const std::optional<int64_t> bytes = BytesOf(tensor, axes_, &why);
      if (!bytes) Stop(why);
      AddBuffer(role, tensor.name, *bytes, false);
    }
  }
  void AddBuffers() {
    AddTensors(BufferPlan::Role::kInput, case_.inputs);
    AddTensors(BufferPlan::Role::kOutput, case_.outputs);
    for (const WorkspaceSpec& workspace : candidate_.workspaces) {
      const std::string what = "workspace " + workspace.name + ": bytes";
      const int64_t bytes = Within(workspace.bytes, what, 1, kMaxBytes);
      AddBuffer(BufferPlan::Role::kWorkspace, workspace.name, bytes, workspace.zero);
    }
  }
  [[nodiscard]] const BufferPlan* FindBuffer(std::string_view name) const {
    for (const BufferPlan& buffer : plan_.buffers) {
      if (buffer.name == name) return &buffer;
    }
    return nullptr;
  }

  // A map that reaches past its tensor would read, or write, a guard zone.
  void CheckMapEnd(const TensorMapSpec& map, const TensorMapPlan& plan, int64_t bytes) const {
    const int64_t size = DtypeBytes(map.dtype);
    int64_t end = plan.dims[0] * size;  // at most 2^35
    for (size_t i = 1; i < plan.dims.size(); ++i) {
      int64_t reach = 0;
      if (__builtin_mul_overflow(plan.dims[i] - 1, plan.strides[i - 1], &reach) ||
          __builtin_add_overflow(end, reach, &end)) {
        end = INT64_MAX;
        break;
      }
    }
    if (end <= bytes) return;
    Stop("tensor map " + map.name + " reaches " + Number(end) + " bytes, " + map.tensor + " has " +
         Number(bytes));
  }

  void AddMap(const TensorMapSpec& map) {
    line_ = map.line;
    const std::string what = "tensor map " + map.name;
    const int64_t size = DtypeBytes(map.dtype);
    TensorMapPlan plan;
    plan.name = map.name;
    plan.buffer = map.tensor;
    plan.data_type = kMapTypes[static_cast<size_t>(map.dtype)];
    plan.swizzle_bytes = map.swizzle_bytes;
    for (const Expression& dim : map.dims) {
      plan.dims.push_back(Within(dim, what + ": dims", 1, kMaxMapLength));
    }
    for (const Expression& stride : map.strides) {
      plan.strides.push_back(Within(stride, what + ": strides", 16, (int64_t{1} << 40) - 1));
      if (plan.strides.back() % 16 != 0) Stop(what + ": strides are not multiples of 16 bytes");
    }
    for (const Expression& box : map.box) plan.box.push_back(Within(box, what + ": box", 1, 256));
    const BufferPlan* buffer = FindBuffer(map.tensor);
    if (buffer == nullptr || plan.dims.empty() || plan.dims.size() != plan.box.size() ||
        plan.strides.size() + 1 != plan.dims.size()) {
      Stop(what + " has no tensor, or not a box for each dimension");
    }
    const int64_t inner = plan.box[0] * size;
    if (inner % 16 != 0) Stop(what + ": the box's rows are not multiples of 16 bytes");
    if (plan.swizzle_bytes > 0 && inner > plan.swizzle_bytes) {
      Stop(what + ": the box's rows are " + Number(inner) + " bytes, over the swizzle's " +
           Number(plan.swizzle_bytes));
    }
    CheckMapEnd(map, plan, buffer->bytes);
    plan_.maps.push_back(std::move(plan));
    line_ = 0;
  }

  void AddHostArguments() {
    for (const std::string& name : case_.axis_names) {
      const auto found = axes_.find(name);
      if (found == axes_.end()) Stop("the workload does not give " + name);
      plan_.axes.push_back(found->second);
    }
    for (const TensorSpec& input : case_.inputs) {
      if (input.scalar) plan_.scalars.push_back(input.value);
    }
  }

  [[nodiscard]] ArgPlan NamedArgument(const std::string& name) const {
    ArgPlan arg;
    if (FindBuffer(name) != nullptr) {
      arg.buffer = name;
      return arg;
    }
    for (const TensorMapPlan& map : plan_.maps) {
      if (map.name == name) {
        arg.map = name;
        return arg;
      }
    }
    for (const TensorSpec& input : case_.inputs) {
      if (input.scalar && input.name == name) {
        arg.bytes = EncodeScalar(input.value, input.dtype);
        return arg;
      }
    }
    Stop("there is no argument '" + name + "'");
  }

  [[nodiscard]] ArgPlan Argument(const ArgSpec& arg, const std::string& what) const {
    if (!arg.name.empty()) return NamedArgument(arg.name);
    const int64_t value = Of(arg.expression, what);
    ArgPlan plan;
    if (!EncodeInteger(value, arg.type, &plan.bytes)) {
      Stop(what + " is " + Number(value) + ", which " + DtypeName(arg.type) +
           " does not hold: write {i64: ...} and take a long long");
    }
    return plan;
  }

  void FillDimensions(const LaunchSpec& launch, const std::string& what, LaunchPlan* plan) const {
    constexpr std::array<int64_t, 3> kGrid = {INT32_MAX, 65535, 65535};
    constexpr std::array<int64_t, 3> kBlock = {1024, 1024, 64};
    constexpr std::array<char, 3> kAxis = {'x', 'y', 'z'};
    for (size_t i = 0; i < 3; ++i) {
      const auto name = [&](const char* of) { return what + ": " + of + " " + kAxis[i]; };
      plan->grid[i] = Within(launch.grid[i], name("grid"), 1, kGrid[i]);
      plan->block[i] = Within(launch.block[i], name("block"), 1, kBlock[i]);
      plan->cluster[i] = Within(launch.cluster[i], name("cluster"), 1, kMaxCluster);
      if (plan->grid[i] % plan->cluster[i] != 0) {
        Stop(name("grid") + " is " + Number(plan->grid[i]) + ", no multiple of the cluster's " +
             Number(plan->cluster[i]));
      }
    }
    const int64_t threads = plan->block[0] * plan->block[1] * plan->block[2];
    if (threads > 1024) Stop(what + ": a block of " + Number(threads) + " threads, over 1024");
    const int64_t blocks = plan->cluster[0] * plan->cluster[1] * plan->cluster[2];
    if (blocks > kMaxCluster) Stop(what + ": a cluster of " + Number(blocks) + " blocks, over 16");
  }

  void AddLaunch(const LaunchSpec& launch) {
    line_ = launch.line;
    const std::string what = "kernel " + launch.kernel;
    if (Of(launch.when, what + ": when") == 0) return;
    LaunchPlan plan;
    plan.kernel = launch.kernel;
    FillDimensions(launch, what, &plan);
    plan.shared_bytes = Within(launch.shared, what + ": shared", 0, kMaxShared);
    int64_t bytes = 0;
    for (size_t i = 0; i < launch.args.size(); ++i) {
      plan.args.push_back(Argument(launch.args[i], what + ": args[" + std::to_string(i) + "]"));
      bytes += plan.args.back().map.empty() ? 8 : 128;
    }
    if (bytes > kMaxParameterBytes) Stop(what + ": more than 4096 bytes of arguments");
    plan_.launches.push_back(std::move(plan));
    line_ = 0;
  }

  const Case& case_;
  const Candidate& candidate_;
  Axes axes_;
  RunPlan plan_;
  int64_t total_bytes_ = 0;
  int line_ = 0;  // of what is being planned
};

}  // namespace

Planned PlanRun(const Case& for_case, const Candidate& candidate, const Axes& axes) {
  Planned planned;
  try {
    planned.plan = Planner(for_case, candidate, axes).Whole();
  } catch (const Fault& fault) {
    planned.why = fault.why;
    planned.line = fault.line;
  }
  return planned;
}

}  // namespace kb
