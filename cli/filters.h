// The filters that search and context share, from their options.
#pragma once

#include <string>

#include "cli/command.h"
#include "indexer/retriever.h"

namespace kb {

// Throws Error if --arch or --cuda cannot be read.
[[nodiscard]] Filters FiltersOf(const Args& args);

// The words of a repeatable positional ("QUERY") as one text.
[[nodiscard]] std::string JoinedWords(const Args& args, const char* name);

}  // namespace kb
