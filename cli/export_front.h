// Front matter as the Agent Skills specification wants it, from front matter as people write
// it. Text to text: touches no files.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kb/document.h"

namespace kb {

// The keys of the specification, conformant. Empty optional ones are not written.
struct SkillFront {
  std::string name;         // 1-64 of a-z, 0-9 and single hyphens
  std::string description;  // one line, 1-1024 characters
  std::string license;
  std::string compatibility;  // at most 500 characters
  std::string allowed_tools;  // separated by spaces
  std::vector<std::pair<std::string, std::string>> metadata;

  // Keeps the first of equal keys.
  void AddMetadata(std::string_view key, std::string_view value);
};

// `text` in lower case with all but a-z and 0-9 as single hyphens, at most 64 bytes; "" if
// nothing is left.
[[nodiscard]] std::string ConformantName(std::string_view text);

// `text` on one line with single spaces, well-formed, without control characters, at most
// `max_characters` (code points; 0: no limit), cut between words with an ellipsis.
[[nodiscard]] std::string OneLine(std::string_view text, size_t max_characters = 0);

// Well-formed UTF-8 without NULs, with LF line ends, without blank lines at the start, ending
// in one line end ("" if blank).
[[nodiscard]] std::string CleanText(std::string_view text);

// What does not fit the specification's keys goes under `metadata` as strings: unknown keys,
// lists, maps (as JSON), a description or compatibility that is too long.
[[nodiscard]] SkillFront ConformantFront(const Document& skill);

// The block between the "---" lines, with them.
[[nodiscard]] std::string WriteFront(const SkillFront& front);

// A body within the specification's 500 lines and 5,000 tokens, and what is left of it.
struct SplitBody {
  std::string head;
  std::string rest;  // "" if all fits
};

// Cuts between top-level blocks, before a heading if one is near. `title`: stands alone in the
// head if not even the first block fits.
[[nodiscard]] SplitBody BoundBody(const std::string& body, std::string_view title);

}  // namespace kb
