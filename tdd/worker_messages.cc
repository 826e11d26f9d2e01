#include "tdd/worker_messages.h"

#include <algorithm>
#include <set>
#include <utility>

namespace kb {
namespace {

constexpr double kLongestTimeoutS = 86400;

bool InRange(const std::array<int64_t, 3>& counts, int64_t highest) {
  return std::all_of(counts.begin(), counts.end(),
                     [highest](int64_t n) { return n >= 1 && n <= highest; });
}

bool IsSoundLaunch(const LaunchPlan& launch, const std::set<std::string>& buffers,
                   const std::set<std::string>& maps) {
  const auto known = [&](const ArgPlan& arg) {
    if (!arg.buffer.empty()) return buffers.count(arg.buffer) > 0;
    if (!arg.map.empty()) return maps.count(arg.map) > 0;
    return !arg.bytes.empty() && arg.bytes.size() <= 8;
  };
  return !launch.kernel.empty() && launch.kernel.find('\0') == std::string::npos &&
         InRange(launch.grid, (int64_t{1} << 31) - 1) && InRange(launch.block, 1 << 16) &&
         InRange(launch.cluster, 1 << 10) && launch.shared_bytes >= 0 &&
         launch.shared_bytes <= 1 << 30 && launch.args.size() <= 4096 &&
         std::all_of(launch.args.begin(), launch.args.end(), known);
}

std::optional<RunPlan> SoundPlan(const Value& value) {
  std::optional<RunPlan> plan = RunPlanFromValue(value);
  if (plan && !IsSoundPlan(*plan)) plan.reset();
  return plan;
}

Value Texts(const std::vector<std::string>& texts) {
  Value list{Value::List{}};
  for (const std::string& text : texts) list.Add(text);
  return list;
}

template <typename Number>
Value Numbers(const std::vector<Number>& numbers) {
  Value list{Value::List{}};
  for (const Number number : numbers) list.Add(Value(number));
  return list;
}

bool IsTimeout(const Value& value) {
  return value.IsNumber() && value.AsDouble() > 0 && value.AsDouble() <= kLongestTimeoutS;
}

Value ToValue(const Timed& timed) {
  return Value(Value::Map{{"program", timed.program}, {"plan", kb::ToValue(timed.plan)}});
}

std::optional<Timed> TimedFromValue(const Value& value) {
  std::optional<RunPlan> plan = SoundPlan(value["plan"]);
  if (!plan || !FitsInt(value["program"], INT32_MIN, INT32_MAX)) return std::nullopt;
  return Timed{static_cast<int>(value["program"].AsInt()), std::move(*plan)};
}

}  // namespace

bool IsPlainName(const std::string& name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 128 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), plain);
}

bool FitsInt(const Value& value, int64_t low, int64_t high) {
  return value.IsInt() && value.AsInt() >= low && value.AsInt() <= high;
}

bool IsSoundPlan(const RunPlan& plan) {
  if (plan.buffers.size() > kMaxBuffers || plan.maps.size() > kMaxBuffers ||
      plan.launches.size() > kMaxLaunches) {
    return false;
  }
  std::set<std::string> buffers, maps;
  for (const BufferPlan& buffer : plan.buffers) {
    if (!IsPlainName(buffer.name) || buffer.bytes < 0 || buffer.bytes > kMaxBufferBytes ||
        !buffers.insert(buffer.name).second) {
      return false;
    }
  }
  for (const TensorMapPlan& map : plan.maps) {
    if (buffers.count(map.buffer) == 0 || !maps.insert(map.name).second) return false;
  }
  return std::all_of(plan.launches.begin(), plan.launches.end(), [&](const LaunchPlan& launch) {
    return IsSoundLaunch(launch, buffers, maps);
  });
}

Value ToValue(const LoadMessage& load) {
  return Value(Value::Map{{"id", load.id}, {"host", load.host}, {"file", load.file}});
}

std::optional<LoadMessage> LoadFromValue(const Value& value) {
  if (!FitsInt(value["id"], INT32_MIN, INT32_MAX) || !IsPlainName(value["file"].AsString())) {
    return std::nullopt;
  }
  return LoadMessage{static_cast<int>(value["id"].AsInt()), value["host"].AsBool(),
                     value["file"].AsString()};
}

Value ToValue(const RunRequest& request) {
  return Value(Value::Map{{"program", request.program},
                          {"plan", ToValue(request.plan)},
                          {"folder", request.folder},
                          {"repeats", request.repeats},
                          {"timeout_s", request.timeout_s}});
}

std::optional<RunRequest> RunRequestFromValue(const Value& value) {
  std::optional<Timed> timed = TimedFromValue(value);
  if (!timed || !value["folder"].IsString() || !FitsInt(value["repeats"], 1, 100) ||
      !IsTimeout(value["timeout_s"])) {
    return std::nullopt;
  }
  RunRequest request;
  request.program = timed->program;
  request.plan = std::move(timed->plan);
  request.folder = value["folder"].AsString();
  request.repeats = static_cast<int>(value["repeats"].AsInt());
  request.timeout_s = value["timeout_s"].AsDouble();
  return request;
}

Value ToValue(const MeasureRequest& request) {
  return Value(Value::Map{{"baseline", ToValue(request.baseline)},
                          {"candidate", ToValue(request.candidate)},
                          {"input_folders", Texts(request.input_folders)},
                          {"cold_l2", request.cold_l2},
                          {"rounds", request.rounds},
                          {"checked_rounds", Numbers(request.checked_rounds)},
                          {"check_folder", request.check_folder},
                          {"timeout_s", request.timeout_s}});
}

std::optional<MeasureRequest> MeasureRequestFromValue(const Value& value) {
  std::optional<Timed> baseline = TimedFromValue(value["baseline"]);
  std::optional<Timed> candidate = TimedFromValue(value["candidate"]);
  const Value::List& folders = value["input_folders"].AsList();
  if (!baseline || !candidate || folders.empty() || folders.size() > kMaxInputFolders ||
      !FitsInt(value["rounds"], 1, kMaxRounds) || !IsTimeout(value["timeout_s"])) {
    return std::nullopt;
  }
  MeasureRequest request;
  request.baseline = std::move(*baseline);
  request.candidate = std::move(*candidate);
  for (const Value& folder : folders) request.input_folders.push_back(folder.AsString());
  request.cold_l2 = value["cold_l2"].AsBool(true);
  request.rounds = static_cast<int>(value["rounds"].AsInt());
  for (const Value& round : value["checked_rounds"].AsList()) {
    if (!FitsInt(round, 0, request.rounds - 1)) return std::nullopt;
    request.checked_rounds.push_back(static_cast<int>(round.AsInt()));
  }
  request.check_folder = value["check_folder"].AsString();
  request.timeout_s = value["timeout_s"].AsDouble();
  return request;
}

Value ToValue(const EnergyRequest& request) {
  return Value(Value::Map{{"timed", ToValue(request.timed)},
                          {"input_folder", request.input_folder},
                          {"seconds", request.seconds}});
}

std::optional<EnergyRequest> EnergyRequestFromValue(const Value& value) {
  std::optional<Timed> timed = TimedFromValue(value["timed"]);
  if (!timed || !IsTimeout(value["seconds"])) return std::nullopt;
  return EnergyRequest{std::move(*timed), value["input_folder"].AsString(),
                       value["seconds"].AsDouble()};
}

}  // namespace kb
