// How BERT's tokenizers read text: the normalisation and the words of Hugging Face's
// BertNormalizer and BertPreTokenizer, for the scripts named below; no Unicode library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct BertOptions {
  bool clean = true;  // control characters go, white space becomes a space
  bool cjk = true;    // spaces around each Chinese character
  bool strip = true;  // accents go: StripAccents
  bool lower = true;  // LowerCase
};

// Bytes that are not UTF-8 are left out.
[[nodiscard]] std::string BertNormalize(std::string_view text, const BertOptions& options);

// Without combining marks, composed letters as their base: Latin, Greek, Cyrillic, kana and
// Hangul (as jamo); the marks of Hebrew and Arabic. Other scripts are kept.
[[nodiscard]] std::string StripAccents(std::string_view text);

// Small letters for Latin, Greek, Cyrillic and Armenian. Others are kept.
[[nodiscard]] std::string LowerCase(std::string_view text);

// The words between white space, and each punctuation character alone.
[[nodiscard]] std::vector<std::string> BertWords(std::string_view text);

// The words between white space.
[[nodiscard]] std::vector<std::string> SpaceWords(std::string_view text);

// Takes a character off the front; U+FFFFFFFF and one byte if it is not UTF-8. Not for "".
[[nodiscard]] char32_t TakeCharacter(std::string_view* text);

}  // namespace kb
