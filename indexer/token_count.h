// How many model tokens a text costs at most. No vocabulary is shipped, so this is an upper
// estimate for byte-pair tokenizers of today's models: a budget is never exceeded.
#pragma once

#include <string_view>

namespace kb {

// Monotone: a longer text never costs less. See ARCHITECTURE.md for how it was checked.
[[nodiscard]] int CountTokens(std::string_view text);

}  // namespace kb
