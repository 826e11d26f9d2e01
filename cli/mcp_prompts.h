// Prompts that people pick in their client: a task with what the knowledge base says of it.
#pragma once

#include "cli/mcp_call.h"
#include "cli/mcp_json_rpc.h"

namespace kb {

[[nodiscard]] RpcResult ListPrompts(McpCall& call);
[[nodiscard]] RpcResult GetPrompt(McpCall& call);

}  // namespace kb
