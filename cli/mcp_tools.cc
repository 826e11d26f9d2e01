#include "cli/mcp_tools.h"

#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/mcp_answers.h"
#include "cli/mcp_output_schema.h"
#include "cli/mcp_schema.h"
#include "kb/error.h"
#include "kb/json.h"

namespace kb {
namespace {

struct Tool {
  std::string_view name;
  ToolAnswer (*answer)(McpCall& call, const Args& args);
  Value (*output_schema)();
};

constexpr Tool kTools[] = {
    {"kb_context", AnswerContext, ContextOutputSchema},
    {"kb_search", AnswerSearch, SearchOutputSchema},
    {"kb_get", AnswerGet, GetOutputSchema},
    {"kb_advise", AnswerAdvise, AdviseOutputSchema},
    {"kb_trace", AnswerTrace, TraceOutputSchema},
    {"kb_status", AnswerStatus, StatusOutputSchema},
};

const Command* CommandOf(std::string_view tool) {
  for (const Command& command : Commands()) {
    if (tool == command.tool) return &command;
  }
  return nullptr;
}

std::string Description(const Command& command) {
  std::string text = command.summary;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ". " + command.tool_use;
}

Value Annotations(const Command& command) {
  return Value(Value::Map{{"title", command.tool_title},
                          {"readOnlyHint", true},
                          {"destructiveHint", false},
                          {"idempotentHint", true},
                          {"openWorldHint", false}});
}

Value ToolJson(const Tool& tool, const Command& command) {
  return Value(Value::Map{{"name", tool.name},
                          {"title", command.tool_title},
                          {"description", Description(command)},
                          {"inputSchema", InputSchema(command)},
                          {"outputSchema", tool.output_schema()},
                          {"annotations", Annotations(command)}});
}

Value TextContent(std::string text) {
  return Value(Value::List{Value(Value::Map{{"type", "text"}, {"text", std::move(text)}})});
}

Value::Map ErrorResult(const std::string& sentence) {
  return {{"content", TextContent(BoundedLine(sentence))}, {"isError", true}};
}

ToolAnswer AnswerOf(const Tool& tool, McpCall& call) {
  const ToolArguments read = ReadToolArguments(*CommandOf(tool.name), call.params["arguments"]);
  if (!read.wrong.empty()) return std::string(tool.name) + ": " + read.wrong;
  try {
    return tool.answer(call, read.args);
  } catch (const Error& error) {
    return std::string(tool.name) + ": " + error.what();
  }
}

RpcError UnknownTool(const std::string& name) {
  std::string known;
  for (const Tool& tool : kTools) known += (known.empty() ? "" : ", ") + std::string(tool.name);
  return {kInvalidParams, "unknown tool '" + BoundedLine(name, 100) + "'; there are " + known};
}

}  // namespace

RpcResult ListTools(McpCall& call) {
  if (call.params.Has("cursor")) {
    return RpcError{kInvalidParams, "unknown cursor; tools/list has one page"};
  }
  Value::List tools;
  for (const Tool& tool : kTools) {
    if (const Command* command = CommandOf(tool.name)) tools.push_back(ToolJson(tool, *command));
  }
  return Cacheable({{"tools", Value(std::move(tools))}}, kFixedTtlMs);
}

RpcResult CallTool(McpCall& call) {
  const Value& name = call.params["name"];
  if (!name.IsString()) return RpcError{kInvalidParams, "\"name\" must be a tool's name"};
  for (const Tool& tool : kTools) {
    if (tool.name != name.AsString() || CommandOf(tool.name) == nullptr) continue;
    ToolAnswer answer = AnswerOf(tool, call);
    if (const auto* wrong = std::get_if<std::string>(&answer)) return ErrorResult(*wrong);
    Value json(std::get<Value::Map>(std::move(answer)));
    return Value::Map{{"content", TextContent(WriteJson(json))},
                      {"structuredContent", std::move(json)},
                      {"isError", false}};
  }
  return UnknownTool(name.AsString());
}

}  // namespace kb
