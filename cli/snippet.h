// The piece of a passage that shows why it was found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct SnippetWord {
  std::string text;      // printable, without white space
  bool matched = false;  // holds a term of the question
};

// At most `width` cells of consecutive words of `passage` that hold the most different terms
// of `query`; the earliest of equals. Headings and fence lines are passed over.
[[nodiscard]] std::vector<SnippetWord> MakeSnippet(std::string_view passage, std::string_view query,
                                                   int width);

// The words with single spaces; matched ones in bold if `bold`.
[[nodiscard]] std::string SnippetText(const std::vector<SnippetWord>& words, bool bold);

}  // namespace kb
