// The MCP extension io.modelcontextprotocol/skills (SEP-2640, still young: all of it is here):
// skills of the index as folders skill://<name>/ with a digest for each file. Markdown comes
// from the index, as it was linted; other files from disk.
#pragma once

#include <string>

#include "cli/mcp_call.h"
#include "cli/mcp_json_rpc.h"

namespace kb {

inline constexpr const char kSkillsExtension[] = "io.modelcontextprotocol/skills";

[[nodiscard]] RpcResult ListSkills(McpCall& call);
[[nodiscard]] RpcResult GetSkill(McpCall& call);
[[nodiscard]] RpcResult ReadDirectory(McpCall& call);

// A file of a skill, byte for byte: text if it is UTF-8, else base64.
[[nodiscard]] RpcResult ReadSkillFile(McpCall& call, const std::string& uri);

}  // namespace kb
