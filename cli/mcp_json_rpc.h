// JSON-RPC 2.0 messages as the Model Context Protocol wants them. Knows no method.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "kb/value.h"

namespace kb {

enum RpcCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kUnsupportedVersion = -32022,  // revision 2026-07-28
};

inline constexpr size_t kMaxMessageBytes = 4 << 20;  // of a line
inline constexpr int kMaxMessageDepth = 64;
inline constexpr int kMaxMessageValues = 50000;  // bounds what a parsed line takes: some 5 MB
inline constexpr size_t kMaxIdBytes = 1024;
inline constexpr size_t kMaxErrorBytes = 1000;  // of an error's text

struct RpcError {
  int code = kInternalError;
  std::string message;
  Value data = {};  // null: none
};

using RpcResult = std::variant<Value::Map, RpcError>;

struct RpcMessage {
  enum class Kind { kRequest, kNotification, kResponse, kInvalid };
  Kind kind = Kind::kInvalid;
  Value id;            // string or integer; null if there is none that can be used
  std::string method;  // of requests and notifications
  Value params;        // as sent; null if absent
  RpcError error;      // kInvalid: what to answer
};

// `line` without its end. Never throws for what it holds.
[[nodiscard]] RpcMessage ParseRpc(std::string_view line);

// Each is one line that ends in '\n'.
[[nodiscard]] std::string WriteRpcResult(const Value& id, Value::Map result);
[[nodiscard]] std::string WriteRpcError(const Value& id, const RpcError& error);
[[nodiscard]] std::string WriteRpcNotification(std::string_view method, Value::Map params);

// `text` printable on one line and at most `most` bytes, cut with "...".
[[nodiscard]] std::string BoundedLine(std::string_view text, size_t most = kMaxErrorBytes);

}  // namespace kb
