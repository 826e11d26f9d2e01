// What each tool does: arguments in, a JSON object of bounded size out.
#pragma once

#include <string>
#include <variant>

#include "cli/command.h"
#include "cli/mcp_call.h"
#include "kb/value.h"

namespace kb {

// A result that conforms to the tool's output schema, or a sentence that says what to mend.
using ToolAnswer = std::variant<Value::Map, std::string>;

// Each may throw Error.
[[nodiscard]] ToolAnswer AnswerSearch(McpCall& call, const Args& args);
[[nodiscard]] ToolAnswer AnswerGet(McpCall& call, const Args& args);
[[nodiscard]] ToolAnswer AnswerContext(McpCall& call, const Args& args);
[[nodiscard]] ToolAnswer AnswerTrace(McpCall& call, const Args& args);
[[nodiscard]] ToolAnswer AnswerAdvise(McpCall& call, const Args& args);
[[nodiscard]] ToolAnswer AnswerStatus(McpCall& call, const Args& args);

}  // namespace kb
