// The indexed documents as resources kb://<id>: Markdown in <kb-item> tags. Blocked ones are
// neither listed nor read.
#pragma once

#include <string>
#include <string_view>

#include "cli/mcp_call.h"
#include "cli/mcp_json_rpc.h"
#include "kb/catalog.h"

namespace kb {

[[nodiscard]] RpcResult ListResources(McpCall& call);
[[nodiscard]] RpcResult ListResourceTemplates(McpCall& call);
// kb:// and skill:// URIs.
[[nodiscard]] RpcResult ReadResource(McpCall& call);

// kb://ID with all percent-encoded that RFC 3986 does not allow in a path, and the way back:
// "" if `uri` has another scheme or is badly encoded.
[[nodiscard]] std::string DocumentUri(std::string_view id);
[[nodiscard]] std::string DocumentIdOf(std::string_view uri);

// `text` percent-encoded but for unreserved characters and '/'.
[[nodiscard]] std::string PercentEncode(std::string_view text);

// nullopt-like: "" if an escape is malformed.
[[nodiscard]] std::string PercentDecode(std::string_view text);

// {contents: [one]} of text/markdown.
[[nodiscard]] Value::Map TextContents(std::string_view uri, std::string text, const char* mime);

[[nodiscard]] RpcError UnknownResource(std::string_view uri);

}  // namespace kb
