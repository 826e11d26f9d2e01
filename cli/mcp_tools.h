// tools/list and tools/call. A tool is a row of the command table with an answer of its own.
#pragma once

#include "cli/mcp_call.h"
#include "cli/mcp_json_rpc.h"

namespace kb {

[[nodiscard]] RpcResult ListTools(McpCall& call);

// Bad arguments and failures are results with isError and a sentence; only a name that is no
// tool is an error of the protocol.
[[nodiscard]] RpcResult CallTool(McpCall& call);

}  // namespace kb
