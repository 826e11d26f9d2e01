// The command table as MCP tools see it: options to JSON Schema 2020-12, and arguments back to
// options.
#pragma once

#include <string>

#include "cli/command.h"
#include "kb/value.h"

namespace kb {

inline constexpr int kMaxArgumentChars = 4000;  // of a string
inline constexpr int kMaxArgumentItems = 32;    // of a list
inline constexpr int kMaxFileChars = 1000000;   // of a file, which a client sends as its text

// "QUERY..." -> "query", "--kind..." -> "kind", "-k" -> "k".
[[nodiscard]] std::string ArgumentName(const Option& option);

// An object with a property for each option that the tool takes, and no others. Files are taken
// as their text, never by path, and are always required.
[[nodiscard]] Value InputSchema(const Command& command);

struct ToolArguments {
  Args args;          // by option name, as from a command line
  std::string wrong;  // one sentence that says what to mend; "" if all is well
};

// `arguments`: what a client sent; null is taken as {}.
[[nodiscard]] ToolArguments ReadToolArguments(const Command& command, const Value& arguments);

}  // namespace kb
