// CUDA C++ source as lint reads it: code without comments and without what stands in strings, and
// the strings apart. Knows continued lines, raw strings and character literals; expands no macro.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kb {

// A string literal, or several in a row, which are one to the compiler.
struct CudaString {
  std::string text;   // escapes are resolved
  size_t offset = 0;  // in CudaText::code, of the first quote
};

struct CudaText {
  explicit CudaText(std::string_view source);

  // The source with continued lines joined (their line ends follow), comments as blanks, and
  // blanks between the quotes of literals.
  std::string code;
  std::vector<CudaString> strings;
  // What could make a reader and a compiler see different code: line and a few words.
  std::vector<std::pair<int, std::string>> odd;

  [[nodiscard]] int LineAt(size_t offset) const;  // 1-based, in the source

 private:
  std::vector<size_t> line_ends_;  // offsets in `code`
};

[[nodiscard]] bool IsWordCharacter(char c);
// The next place of `word` in `code` as a whole identifier, from `from`; npos if there is none.
[[nodiscard]] size_t FindWord(std::string_view code, std::string_view word, size_t from = 0);
[[nodiscard]] bool HasWord(std::string_view code, std::string_view word);

}  // namespace kb
