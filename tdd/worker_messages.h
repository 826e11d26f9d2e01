// What kb and its worker say to each other: one JSON object a line. A request: {"op", ...}; its
// reply: {"verdict": {status, kind, message}, "fatal": bool, ...}. FromValue: nullopt if the shape
// is wrong or a bound is passed; the worker trusts nothing that it reads, nor does kb.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kb/value.h"
#include "tdd/runner.h"

namespace kb {

// Bounds of one request.
inline constexpr size_t kMaxBuffers = 256;
inline constexpr size_t kMaxLaunches = 4096;
inline constexpr int64_t kMaxBufferBytes = int64_t{1} << 40;
inline constexpr int kMaxRounds = 100000;
inline constexpr size_t kMaxInputFolders = 256;

struct LoadMessage {
  int id = 0;
  bool host = false;
  std::string file;
};

[[nodiscard]] Value ToValue(const Verdict& verdict);
[[nodiscard]] Value ToValue(const LoadMessage& load);
[[nodiscard]] Value ToValue(const RunRequest& request);
[[nodiscard]] Value ToValue(const RunReply& reply);
[[nodiscard]] Value ToValue(const MeasureRequest& request);
[[nodiscard]] Value ToValue(const MeasureReply& reply);
[[nodiscard]] Value ToValue(const EnergyRequest& request);
[[nodiscard]] Value ToValue(const EnergyReply& reply);
[[nodiscard]] Value ToValue(const PeaksReply& reply);

[[nodiscard]] std::optional<Verdict> VerdictFromValue(const Value& value);
[[nodiscard]] std::optional<Environment> EnvironmentFromValue(const Value& value);
[[nodiscard]] std::optional<LoadMessage> LoadFromValue(const Value& value);
[[nodiscard]] std::optional<RunRequest> RunRequestFromValue(const Value& value);
[[nodiscard]] std::optional<RunReply> RunReplyFromValue(const Value& value);
[[nodiscard]] std::optional<MeasureRequest> MeasureRequestFromValue(const Value& value);
[[nodiscard]] std::optional<MeasureReply> MeasureReplyFromValue(const Value& value);
[[nodiscard]] std::optional<EnergyRequest> EnergyRequestFromValue(const Value& value);
[[nodiscard]] std::optional<EnergyReply> EnergyReplyFromValue(const Value& value);
[[nodiscard]] std::optional<PeaksReply> PeaksReplyFromValue(const Value& value);

// May stand as a file's name: letters, digits, "_", "-" and, not first, ".".
[[nodiscard]] bool IsPlainName(const std::string& name);
[[nodiscard]] bool FitsInt(const Value& value, int64_t low, int64_t high);

// A plan that may be carried out: sizes within the bounds, names that are plain file names and
// differ, arguments that name what is there.
[[nodiscard]] bool IsSoundPlan(const RunPlan& plan);

}  // namespace kb
