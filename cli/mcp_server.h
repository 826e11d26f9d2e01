// The Model Context Protocol, one message at a time: revision 2026-07-28 ("modern", stateless,
// the version in each request) and four older ones ("legacy", after `initialize`), chosen for
// each request by what it carries. Not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "cli/mcp_index.h"
#include "cli/mcp_json_rpc.h"

namespace kb {

inline constexpr const char kModernVersion[] = "2026-07-28";
inline constexpr const char* kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                  "2024-11-05"};  // newest first

class McpServer {
 public:
  // Takes one message, a line that ends in '\n'.
  using Emit = std::function<void(std::string)>;
  // Whether the client no longer wants the answer to the request `id`; may be null.
  using IsCancelled = std::function<bool(const Value& id)>;

  McpServer(std::string kb_dir, Emit emit, IsCancelled is_cancelled = {});

  // Never throws for what `line` holds; emits progress, then at most one response.
  void Handle(std::string_view line);
  // The same for a line that was longer than kMaxMessageBytes.
  void HandleTooLong();
  // To be called now and then while no message comes.
  void Idle() { index_.CloseIfOutdated(); }

 private:
  enum class Era { kLegacy, kModern };

  void HandleRequest(const RpcMessage& message);
  [[nodiscard]] std::variant<Era, RpcError> EraOf(const RpcMessage& message) const;
  [[nodiscard]] RpcResult Dispatch(const RpcMessage& message, const Value& params, Era era);
  [[nodiscard]] RpcResult Run(const RpcMessage& message, const Value& params, Era era);
  [[nodiscard]] RpcResult Initialize(const Value& params);
  [[nodiscard]] bool Step(const RpcMessage& message, int done, int total, const char* what);

  McpIndex index_;
  Emit emit_;
  IsCancelled is_cancelled_;
  bool is_initialized_ = false;
};

// What agents are told at the start: at most 2,048 characters.
[[nodiscard]] std::string McpInstructions();

}  // namespace kb
