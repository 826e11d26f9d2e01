#include "indexer/exclusions.h"

#include <algorithm>
#include <array>

namespace kb {
namespace {

constexpr std::array<std::string_view, 20> kCues = {
    "do not use",   "don't use",       "don\xE2\x80\x99t use", "dont use",       "not for",
    "never use",    "not intended",    "not used for",         "not when",       "not to be used",
    "refuse",       "route elsewhere", "out of scope",         "does not cover", "doesn't cover",
    "is not about", "avoid using",     "instead use",          "skip when",      "skip if"};

constexpr std::array<std::string_view, 4> kElsewhere = {", use ", ", see ", ", prefer ",
                                                        " instead"};
constexpr size_t kLongestRedirect = 120;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsWord(char c) {
  const char l = Lower(c);
  return (l >= 'a' && l <= 'z') || (l >= '0' && l <= '9') || l == '_';
}

// "for X, use Y": whether the sentence's part from a "for " on sends its reader elsewhere.
bool IsRedirect(std::string_view from_for) {
  const std::string_view window = from_for.substr(0, kLongestRedirect);
  return std::any_of(kElsewhere.begin(), kElsewhere.end(),
                     [&](std::string_view e) { return window.find(e, 4) != window.npos; });
}

// Where the first cue of a lower-case sentence starts, or its size.
size_t FirstCue(std::string_view sentence) {
  for (size_t i = 0; i < sentence.size(); ++i) {
    if (i > 0 && IsWord(sentence[i - 1])) continue;
    const std::string_view rest = sentence.substr(i);
    for (const std::string_view cue : kCues) {
      if (rest.starts_with(cue) && (rest.size() == cue.size() || !IsWord(rest[cue.size()]))) {
        return i;
      }
    }
    if (rest.starts_with("for ") && IsRedirect(rest)) return i;
  }
  return sentence.size();
}

bool EndsSentence(std::string_view text, size_t i) {
  const bool mark = text[i] == '.' || text[i] == ';' || text[i] == '!' || text[i] == '?';
  return mark && (i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n' ||
                  text[i + 1] == '\t' || text[i + 1] == '\r');
}

}  // namespace

std::string WithoutExclusions(std::string_view description) {
  std::string lower(description);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  std::string kept;
  for (size_t begin = 0; begin < lower.size();) {
    size_t end = begin;
    while (end < lower.size() && !EndsSentence(lower, end)) ++end;
    end = std::min(end + 1, lower.size());
    const std::string_view sentence = std::string_view(lower).substr(begin, end - begin);
    kept += description.substr(begin, FirstCue(sentence));
    kept += ' ';
    begin = end;
  }
  return kept;
}

}  // namespace kb
