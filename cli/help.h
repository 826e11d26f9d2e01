// The help texts, written from the command table. Each fits a screen: 24 lines of 80 columns.
#pragma once

#include <string>

#include "cli/command.h"

namespace kb {

[[nodiscard]] std::string HelpText();
[[nodiscard]] std::string CommandHelp(const Command& command);

}  // namespace kb
