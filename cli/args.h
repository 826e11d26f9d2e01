// Command lines to commands and their arguments, by the command table.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace kb {

struct Invocation {
  const Command* command = nullptr;  // null: none given, or `error`
  Args args;
  std::string group;  // "tdd": help of all commands that begin so
  bool help = false;  // --help or "help": of `command` or `group`, or of kb if there is neither
  bool version = false;
  std::string error;  // one line with its mend; "" if the line is good
};

// `argv`: the words after "kb". Never throws for what they hold.
[[nodiscard]] Invocation ParseCommandLine(std::span<const std::string> argv);

}  // namespace kb
