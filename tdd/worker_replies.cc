#include <string>
#include <utility>
#include <vector>

#include "tdd/worker_messages.h"

namespace kb {
namespace {

template <typename Number>
Value Numbers(const std::vector<Number>& numbers) {
  Value list{Value::List{}};
  for (const Number number : numbers) list.Add(Value(number));
  return list;
}

std::optional<std::vector<double>> DoublesFromValue(const Value& value) {
  if (!value.IsList()) return std::nullopt;
  std::vector<double> numbers;
  for (const Value& each : value.AsList()) {
    if (!each.IsNumber()) return std::nullopt;
    numbers.push_back(each.AsDouble());
  }
  return numbers;
}

}  // namespace

Value ToValue(const Verdict& verdict) {
  return Value(Value::Map{{"status", StatusName(verdict.status)},
                          {"kind", verdict.kind},
                          {"message", verdict.message}});
}

std::optional<Verdict> VerdictFromValue(const Value& value) {
  const std::optional<Status> status = ParseStatus(value["status"].AsString());
  if (!status) return std::nullopt;
  return Verdict{*status, value["kind"].AsString(), value["message"].AsString()};
}

Value Environment::ToValue() const {
  return Value(Value::Map{{"gpu", gpu},
                          {"arch", arch},
                          {"gpu_uuid", gpu_uuid},
                          {"driver", driver},
                          {"cuda", cuda},
                          {"multiprocessors", multiprocessors},
                          {"l2_bytes", l2_bytes},
                          {"memory_bytes", memory_bytes},
                          {"sandbox", sandbox},
                          {"emulated", emulated}});
}

std::optional<Environment> EnvironmentFromValue(const Value& value) {
  if (!value["gpu"].IsString() || !value["arch"].IsString()) return std::nullopt;
  Environment environment;
  environment.gpu = value["gpu"].AsString();
  environment.arch = value["arch"].AsString();
  environment.gpu_uuid = value["gpu_uuid"].AsString();
  environment.driver = value["driver"].AsString();
  environment.cuda = value["cuda"].AsString();
  environment.multiprocessors = static_cast<int>(value["multiprocessors"].AsInt());
  environment.l2_bytes = value["l2_bytes"].AsInt();
  environment.memory_bytes = value["memory_bytes"].AsInt();
  environment.sandbox = value["sandbox"].AsString();
  environment.emulated = value["emulated"].AsBool();
  return environment;
}

Value ToValue(const RunReply& reply) {
  return Value(Value::Map{{"verdict", ToValue(reply.verdict)},
                          {"deterministic", reply.deterministic},
                          {"device_us", reply.device_us}});
}

std::optional<RunReply> RunReplyFromValue(const Value& value) {
  std::optional<Verdict> verdict = VerdictFromValue(value["verdict"]);
  if (!verdict) return std::nullopt;
  return RunReply{std::move(*verdict), value["deterministic"].AsBool(true),
                  value["device_us"].AsDouble()};
}

Value ToValue(const MeasureReply& reply) {
  Value throttled{Value::List{}}, checked{Value::List{}};
  for (const bool each : reply.throttled) throttled.Add(each);
  for (const CheckedCall& call : reply.checked) {
    checked.Add(Value(Value::Map{
        {"round", call.round}, {"input_folder", call.input_folder}, {"folder", call.folder}}));
  }
  return Value(Value::Map{{"verdict", ToValue(reply.verdict)},
                          {"baseline_us", Numbers(reply.baseline_us)},
                          {"candidate_us", Numbers(reply.candidate_us)},
                          {"throttled", std::move(throttled)},
                          {"checked", std::move(checked)},
                          {"wall_s", reply.wall_s},
                          {"conditions", reply.conditions}});
}

std::optional<MeasureReply> MeasureReplyFromValue(const Value& value) {
  std::optional<Verdict> verdict = VerdictFromValue(value["verdict"]);
  auto baseline = DoublesFromValue(value["baseline_us"]);
  auto candidate = DoublesFromValue(value["candidate_us"]);
  if (!verdict || !baseline || !candidate) return std::nullopt;
  MeasureReply reply;
  reply.verdict = std::move(*verdict);
  reply.baseline_us = std::move(*baseline);
  reply.candidate_us = std::move(*candidate);
  for (const Value& each : value["throttled"].AsList()) reply.throttled.push_back(each.AsBool());
  for (const Value& each : value["checked"].AsList()) {
    if (!FitsInt(each["round"], 0, kMaxRounds) ||
        !FitsInt(each["input_folder"], 0, static_cast<int64_t>(kMaxInputFolders)) ||
        !IsPlainName(each["folder"].AsString())) {
      return std::nullopt;
    }
    reply.checked.push_back({static_cast<int>(each["round"].AsInt()),
                             static_cast<int>(each["input_folder"].AsInt()),
                             each["folder"].AsString()});
  }
  reply.wall_s = value["wall_s"].AsDouble();
  reply.conditions = value["conditions"];
  return reply;
}

Value ToValue(const EnergyReply& reply) {
  return Value(Value::Map{{"verdict", ToValue(reply.verdict)},
                          {"joules_per_run", reply.joules_per_run},
                          {"runs", reply.runs}});
}

std::optional<EnergyReply> EnergyReplyFromValue(const Value& value) {
  std::optional<Verdict> verdict = VerdictFromValue(value["verdict"]);
  if (!verdict) return std::nullopt;
  return EnergyReply{std::move(*verdict), value["joules_per_run"].AsDouble(),
                     value["runs"].AsInt()};
}

Value ToValue(const PeaksReply& reply) {
  return Value(Value::Map{{"verdict", ToValue(reply.verdict)},
                          {"copy_bytes_per_s", reply.peaks.copy_bytes_per_s},
                          {"bf16_flops_per_s", reply.peaks.bf16_flops_per_s},
                          {"how", reply.peaks.how}});
}

std::optional<PeaksReply> PeaksReplyFromValue(const Value& value) {
  std::optional<Verdict> verdict = VerdictFromValue(value["verdict"]);
  if (!verdict) return std::nullopt;
  return PeaksReply{std::move(*verdict),
                    {value["copy_bytes_per_s"].AsDouble(), value["bf16_flops_per_s"].AsDouble(),
                     value["how"].AsString()}};
}

}  // namespace kb
