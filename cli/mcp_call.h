// What a handler of one request has to work with.
#pragma once

#include <functional>

#include "cli/mcp_index.h"
#include "cli/mcp_json_rpc.h"
#include "kb/value.h"

namespace kb {

struct McpCall {
  McpIndex& index;
  const Value& params;  // a map; never null
  // Tells the client that step `done` of `total` is done, if it wants to know. False if the
  // client has cancelled the request: the handler then returns at once, with anything.
  std::function<bool(int done, int total, const char* what)> step;
};

// Freshness hints of revision 2026-07-28, in milliseconds.
inline constexpr int kFixedTtlMs = 300000;  // what only a new kb changes
inline constexpr int kIndexTtlMs = 10000;   // what `kb index` changes

// Appends ttlMs and cacheScope; the server takes them out for legacy clients.
inline Value::Map Cacheable(Value::Map result, int ttl_ms) {
  result.emplace_back("ttlMs", ttl_ms);
  result.emplace_back("cacheScope", "private");
  return result;
}

}  // namespace kb
