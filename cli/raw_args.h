// Splits words into options and the rest: all that we use CLI11 for. What the words mean,
// and what is wrong with them, is command_line.cc's business.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace kb {

using Words = std::vector<std::string>;

[[nodiscard]] bool IsRepeatable(const Option& option);     // its name ends in "..."
[[nodiscard]] bool IsPositional(const Option& option);     // its name has no "-"
[[nodiscard]] std::string BareName(const Option& option);  // without "..."

struct RawParse {
  std::map<std::string, Words> values;  // by BareName; flags: "true"
  Words rest;                           // all else in order, "--" and unknown options included
  std::string error;                    // "--arch needs a value", or ""
};

// `stop_at_word`: all words from the first that is no option go to `rest`, options too.
[[nodiscard]] RawParse ParseRaw(std::span<const Option* const> options, Words words,
                                bool stop_at_word);

}  // namespace kb
