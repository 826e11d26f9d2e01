// `kb worker --fd N [--driver PATH]`, what tdd/runner.h starts in a child, and `kb compile-child`,
// what tdd/compile.h does. For kb itself and not for people, hence not in the command table, which
// has `kb worker --job` alone.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/command.h"

namespace kb {

// The exit code; nullopt if `argv` (the words after "kb") is another command.
[[nodiscard]] std::optional<int> RunWorkerCommand(std::span<const std::string> argv,
                                                  Streams& streams);

}  // namespace kb
