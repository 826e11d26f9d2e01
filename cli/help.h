// The help texts, written from the command table. Each fits a screen: 24 lines of 80 columns.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"

namespace kb {

// A group of several commands ("tdd new", "tdd run", ...) takes one line.
[[nodiscard]] std::string HelpText();
// Whether commands begin with this word and another.
[[nodiscard]] bool IsGroup(std::string_view word);
[[nodiscard]] std::string GroupHelp(const std::string& group);
[[nodiscard]] std::string CommandHelp(const Command& command);

}  // namespace kb
