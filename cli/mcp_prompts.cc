#include "cli/mcp_prompts.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/filters.h"
#include "cli/mcp_schema.h"
#include "cli/mcp_text.h"
#include "indexer/context.h"
#include "kb/error.h"

namespace kb {
namespace {

// The first argument is the task; "arch" and the like are filters of `kb context`.
struct PromptArgument {
  const char* name;
  const char* description;
  bool required = false;
};

struct Prompt {
  const char* name;
  const char* title;
  const char* description;
  const char* steps;  // what to do with what was found
  std::span<const PromptArgument> arguments;
};

constexpr PromptArgument kArch = {"arch", "architecture, e.g. sm_90"};
constexpr PromptArgument kDtype = {"dtype", "number format, e.g. bf16"};
constexpr PromptArgument kWrite[] = {{"task", "what the kernel computes", true}, kArch, kDtype};
constexpr PromptArgument kDebug[] = {{"symptom", "what goes wrong: message or behaviour", true},
                                     kArch};
constexpr PromptArgument kOptimise[] = {{"kernel", "what the kernel does and what limits it", true},
                                        kArch,
                                        kDtype,
                                        {"bound", "memory, compute or latency, if known"}};

constexpr Prompt kPrompts[] = {
    {"write-kernel", "Write a CUDA kernel", "Read up, then write a kernel and check it",
     "Write the kernel. Start from the code below where it applies, name the passages that you "
     "used by their citation, and run the checks that they name. Measure before you claim speed.",
     kWrite},
    {"debug-kernel", "Debug a CUDA kernel", "Find the cause of a wrong or failing kernel",
     "Find the cause before you change code: reproduce it with the smallest input, run the "
     "sanitizer or check that fits, then mend one thing and check again.",
     kDebug},
    {"optimise-kernel", "Optimise a CUDA kernel", "Make a correct kernel faster, with evidence",
     "Measure first and say what bounds the kernel. Change one thing at a time, keep the test "
     "green, and keep only what the measurement supports.",
     kOptimise},
};

Value PromptJson(const Prompt& prompt) {
  Value::List arguments;
  for (const PromptArgument& argument : prompt.arguments) {
    arguments.push_back(Value(Value::Map{{"name", argument.name},
                                         {"description", argument.description},
                                         {"required", argument.required}}));
  }
  return Value(Value::Map{{"name", prompt.name},
                          {"title", prompt.title},
                          {"description", prompt.description},
                          {"arguments", Value(std::move(arguments))}});
}

// As options of `kb context`; or what is wrong.
ToolArguments ReadPromptArguments(const Prompt& prompt, const Value& given) {
  ToolArguments read;
  const auto wrong = [&](std::string what) {
    read.wrong = std::string(prompt.name) + ": " + std::move(what);
    return read;
  };
  if (!given.IsMap() && !given.IsNull()) return wrong("\"arguments\" must be an object");
  for (const auto& [name, value] : given.AsMap()) {
    const auto known = std::ranges::find_if(
        prompt.arguments, [&name = name](const auto& one) { return one.name == name; });
    if (known == prompt.arguments.end()) {
      return wrong("unknown argument \"" + BoundedLine(name, 100) + "\"");
    }
    const std::string& text = value.AsString();
    if (!value.IsString()) return wrong("\"" + name + "\" must be a string");
    if (text.size() > kMaxArgumentChars) return wrong("\"" + name + "\" is too long");
    if (text.empty()) continue;  // clients send what was left blank
    read.args.Add(known == prompt.arguments.begin() ? "TASK" : "--" + name, text);
  }
  const PromptArgument& task = prompt.arguments.front();
  if (!read.args.Has("TASK")) {
    return wrong("\"" + std::string(task.name) + "\" is missing; give " + task.description);
  }
  return read;
}

std::string Retrieved(McpCall& call, const Args& args) {
  Query query;
  query.text = JoinedWords(args, "TASK");
  query.filters = FiltersOf(args);
  if (call.index.OpenIfAny() == nullptr) return "Nothing is indexed yet: kb index FOLDER.\n";
  return CutText(WriteContext(call.index.Open(), query, {}).text, kMaxDocumentBytes);
}

RpcResult Fill(McpCall& call, const Prompt& prompt) {
  const ToolArguments read = ReadPromptArguments(prompt, call.params["arguments"]);
  if (!read.wrong.empty()) return RpcError{kInvalidParams, read.wrong};
  std::string text = std::string(prompt.title) + ": " + read.args.Get("TASK") + "\n";
  for (const PromptArgument& argument : prompt.arguments) {
    const std::string value = read.args.Get(std::string("--") + argument.name);
    if (!value.empty()) text += std::string(argument.name) + ": " + value + "\n";
  }
  try {
    text += std::string("\n") + prompt.steps +
            " Ask kb_context and kb_search for more.\n\nFrom the knowledge base (" + kNotice +
            ")\n\n" + Retrieved(call, read.args);
  } catch (const Error& error) {  // a filter that cannot be read, no index
    return RpcError{kInvalidParams, std::string(prompt.name) + ": " + error.what()};
  }
  Value content(Value::Map{{"type", "text"}, {"text", std::move(text)}});
  Value message(Value::Map{{"role", "user"}, {"content", std::move(content)}});
  return Value::Map{{"description", prompt.description},
                    {"messages", Value(Value::List{std::move(message)})}};
}

}  // namespace

RpcResult ListPrompts(McpCall& call) {
  if (call.params.Has("cursor")) {
    return RpcError{kInvalidParams, "unknown cursor; prompts/list has one page"};
  }
  Value::List prompts;
  for (const Prompt& prompt : kPrompts) prompts.push_back(PromptJson(prompt));
  return Cacheable({{"prompts", Value(std::move(prompts))}}, kFixedTtlMs);
}

RpcResult GetPrompt(McpCall& call) {
  const std::string& name = call.params["name"].AsString();
  for (const Prompt& prompt : kPrompts) {
    if (name == prompt.name) return Fill(call, prompt);
  }
  return RpcError{kInvalidParams,
                  "unknown prompt '" + BoundedLine(name, 100) + "'; prompts/list names all"};
}

}  // namespace kb
