// How many model tokens a text costs at most. No vocabulary is shipped, so this is an upper
// estimate for byte-pair tokenizers of today's models: a budget is never exceeded.
#pragma once

#include <string_view>

namespace kb {

// Appending to a text never lowers its count. Linear in the text; any bytes are accepted; 0 only
// for the empty text. token_count.cc says against which vocabularies it was checked.
[[nodiscard]] int CountTokens(std::string_view text);

}  // namespace kb
