#include "cli/mcp_json_rpc.h"

#include <algorithm>
#include <utility>

#include "kb/file.h"
#include "kb/json.h"
#include "kb/utf8.h"

namespace kb {
namespace {

// "" or which limit `line` breaks. Looks at brackets and commas outside strings, so that
// hostile lines are refused before they are given memory.
std::string BrokenLimit(std::string_view line) {
  if (line.size() > kMaxMessageBytes) {
    return "the message is longer than " + std::to_string(kMaxMessageBytes) + " bytes";
  }
  int depth = 0, values = 0;
  bool in_string = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (depth > kMaxMessageDepth) {
      return "the message is nested deeper than " + std::to_string(kMaxMessageDepth) + " levels";
    }
    if (values > kMaxMessageValues) {
      return "the message holds more than " + std::to_string(kMaxMessageValues) + " values";
    }
  }
  return "";
}

bool IsId(const Value& id) {
  return id.IsInt() || (id.IsString() && id.AsString().size() <= kMaxIdBytes);
}

RpcMessage Invalid(int code, std::string message, Value id = {}) {
  RpcMessage invalid;
  invalid.id = std::move(id);
  invalid.error = {code, std::move(message)};
  return invalid;
}

RpcMessage Classify(const Value& message) {
  if (message.IsList()) {
    return Invalid(kInvalidRequest, "batches are not supported; send one message a line");
  }
  if (!message.IsMap()) return Invalid(kInvalidRequest, "a message is a JSON object");
  const Value& id = message["id"];
  const Value usable = IsId(id) ? id : Value();
  if (message["jsonrpc"].AsString() != "2.0") {
    return Invalid(kInvalidRequest, "\"jsonrpc\" must be \"2.0\"", usable);
  }
  const bool has_id = message.Has("id");
  if (!message.Has("method") && (message.Has("result") || message.Has("error"))) {
    RpcMessage response;
    response.kind = RpcMessage::Kind::kResponse;
    return response;
  }
  if (!message["method"].IsString()) {
    return Invalid(kInvalidRequest, "\"method\" must be a string", usable);
  }
  if (has_id && !IsId(id)) {
    return Invalid(kInvalidRequest, "\"id\" must be a string of at most " +
                                        std::to_string(kMaxIdBytes) + " bytes or an integer");
  }
  RpcMessage good;
  good.kind = has_id ? RpcMessage::Kind::kRequest : RpcMessage::Kind::kNotification;
  good.id = usable;
  good.method = message["method"].AsString();
  good.params = message["params"];
  if (has_id && message.Has("params") && !good.params.IsMap()) {
    return Invalid(kInvalidParams, "\"params\" must be an object", usable);
  }
  return good;
}

}  // namespace

RpcMessage ParseRpc(std::string_view line) {
  if (std::string limit = BrokenLimit(line); !limit.empty()) {
    return Invalid(kInvalidRequest, std::move(limit));
  }
  std::string why;
  const auto message = ParseJson(line, &why, {kMaxMessageBytes, kMaxMessageDepth});
  if (!message) return Invalid(kParseError, BoundedLine("not JSON: " + why, 300));
  return Classify(*message);
}

std::string WriteRpcResult(const Value& id, Value::Map result) {
  return WriteJson(Value(
             Value::Map{{"jsonrpc", "2.0"}, {"id", id}, {"result", Value(std::move(result))}})) +
         "\n";
}

std::string WriteRpcError(const Value& id, const RpcError& error) {
  Value::Map body = {{"code", error.code}, {"message", BoundedLine(error.message)}};
  if (!error.data.IsNull()) body.emplace_back("data", error.data);
  return WriteJson(
             Value(Value::Map{{"jsonrpc", "2.0"}, {"id", id}, {"error", Value(std::move(body))}})) +
         "\n";
}

std::string WriteRpcNotification(std::string_view method, Value::Map params) {
  return WriteJson(Value(Value::Map{
             {"jsonrpc", "2.0"}, {"method", method}, {"params", Value(std::move(params))}})) +
         "\n";
}

std::string BoundedLine(std::string_view text, size_t most) {
  std::string line = Printable(text.substr(0, most));
  if (line.size() <= most && text.size() <= most) return line;
  size_t end = std::min(line.size(), most > 3 ? most - 3 : 0);
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

}  // namespace kb
