// What the commands that start files share: kb new skill, kb new trace, kb tdd new.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"

namespace kb {

// `text` with each mark ("@NAME@") replaced by its value.
[[nodiscard]] std::string Filled(std::string text,
                                 const std::vector<std::pair<std::string, std::string>>& values);

// "bank-conflicts" -> "Bank conflicts".
[[nodiscard]] std::string TitleOf(std::string name);

// The positional `argument`, if it is a conformant name. Throws Error with the nearest that is.
[[nodiscard]] std::string CheckedName(const Args& args, const char* argument, const char* command);

// With those above it. Throws Error.
void MakeFolders(const std::string& folder);

// Throws Error unless nothing at all stands there, not even a link that leads nowhere.
void CheckMissing(const std::string& path, const char* mend);

// Says what was made ({path} with --json) and, on stderr, what to do next.
void TellMade(const std::string& path, const char* next, const Args& args, Streams& streams);

}  // namespace kb
