#include "indexer/tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace kb {
namespace {

constexpr size_t kRemembered = 1 << 18;  // runs; then forgotten, so memory stays bounded

// Question and function words that say nothing of the subject. Technical words that look like
// these ("not", "all", "for each") cost more than they give and stay out as well.
constexpr std::array kStopWords = {
    "a",     "about", "after",   "also",   "am",    "an",   "and",    "any",   "are",   "as",
    "at",    "be",    "because", "been",   "being", "both", "but",    "by",    "can",   "cant",
    "could", "did",   "do",      "does",   "dont",  "each", "few",    "for",   "from",  "get",
    "got",   "had",   "has",     "have",   "he",    "help", "her",    "his",   "how",   "i",
    "if",    "im",    "in",      "into",   "is",    "it",   "its",    "ive",   "just",  "let",
    "me",    "more",  "most",    "my",     "need",  "no",   "not",    "of",    "on",    "or",
    "other", "our",   "own",     "please", "same",  "she",  "should", "so",    "some",  "such",
    "tell",  "than",  "that",    "the",    "their", "them", "then",   "there", "these", "they",
    "this",  "those", "to",      "too",    "us",    "very", "want",   "was",   "we",    "were",
    "what",  "when",  "where",   "which",  "who",   "why",  "will",   "with",  "would", "you",
    "your"};

bool IsAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsAlpha(c) || IsDigit(c) || c == '_'; }
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

std::string Lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

bool IsStopWord(const std::string& word) {
  static const std::unordered_set<std::string> words(kStopWords.begin(), kStopWords.end());
  return words.contains(word);
}

// The length of the UTF-8 sequence at the front of `s` (RFC 3629), 0 if there is none.
size_t Utf8Length(std::string_view s, char32_t* code) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  const size_t n = lead >= 0xF0 && lead < 0xF5 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
  if (n == 0 || lead >= 0xF5 || s.size() < n) return 0;
  *code = lead & (0xFF >> (n + 1));
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    *code = *code << 6 | (byte(i) & 0x3F);
  }
  return n;
}

bool IsIdeograph(char32_t c) {
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) || c >= 0x20000;
}

// Punctuation, symbols, arrows, box drawing, private use: not letters.
bool IsSeparator(char32_t c) {
  return c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c <= 0x2BFF) ||
         (c >= 0x3000 && c <= 0x303F) || (c >= 0xE000 && c <= 0xF8FF) ||
         (c >= 0xFE00 && c <= 0xFFFF) || (c >= 0x1F000 && c <= 0x1FFFF) || c >= 0xE0000;
}

// "fooBar" -> foo Bar; "TMADescriptor" -> TMA Descriptor; "sm90" stays whole.
std::vector<std::string_view> CamelPieces(std::string_view part) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  for (size_t i = 1; i < part.size(); ++i) {
    const bool hump = IsUpper(part[i]) && (IsLower(part[i - 1]) || IsDigit(part[i - 1]));
    const bool acronym_end = IsUpper(part[i]) && IsUpper(part[i - 1]) && i + 1 < part.size() &&
                             IsLower(part[i + 1]) && i + 2 < part.size();
    if (!hump && !acronym_end) continue;
    pieces.push_back(part.substr(begin, i - begin));
    begin = i;
  }
  pieces.push_back(part.substr(begin));
  return pieces;
}

bool IsCamel(std::string_view part) { return CamelPieces(part).size() > 1; }

std::string_view TrimUnderscores(std::string_view run) {
  while (!run.empty() && run.front() == '_') run.remove_prefix(1);
  while (!run.empty() && run.back() == '_') run.remove_suffix(1);
  return run;
}

std::vector<std::string_view> Parts(std::string_view run) {
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < run.size();) {
    const size_t begin = i;
    while (i < run.size() && (IsAlpha(run[i]) || IsDigit(run[i]) || !IsAscii(run[i]))) ++i;
    if (i > begin) parts.push_back(run.substr(begin, i - begin));
    if (i == begin) ++i;
  }
  return parts;
}

bool HasJoint(std::string_view run) { return run.find_first_of("_.:") != run.npos; }

// A plural without its s, after Harman 1991 (How effective is suffixing?): queries -> query,
// banks -> bank; bus, class and axis stay. Porter's stemmer conflates more and ranked no better
// (ARCHITECTURE.md); what it would join, LSA joins.
std::string Singular(std::string word) {
  const auto ends = [&](std::string_view suffix) { return word.ends_with(suffix); };
  if (word.size() > 4 && ends("ies")) return word.substr(0, word.size() - 3) + "y";
  const bool plural = word.size() > 3 && ends("s") && !ends("ss") && !ends("us") && !ends("is");
  if (plural) word.pop_back();
  return word;
}

bool Keep(const std::string& term) {
  if (term.size() > kMaxTermBytes) return false;
  return term.size() > 1 || IsDigit(term[0]) || term == "c" || term == "r" || term == "q";
}

// The bytes a joint takes at `at` ('.', '-', "::" with a word character after), else 0.
size_t JointLength(std::string_view text, size_t at) {
  const auto word_at = [&](size_t i) { return i < text.size() && IsWord(text[i]); };
  if ((text[at] == '.' || text[at] == '-') && word_at(at + 1)) return 1;
  if (text[at] == ':' && at + 1 < text.size() && text[at + 1] == ':' && word_at(at + 2)) return 2;
  return 0;
}

// "don't" is one word: an apostrophe (ASCII or U+2019) between letters.
size_t ApostropheLength(std::string_view text, size_t at) {
  const size_t n = text[at] == '\'' ? 1 : text.substr(at, 3) == "\xE2\x80\x99" ? 3 : 0;
  return n > 0 && at + n < text.size() && IsAlpha(text[at + n]) ? n : 0;
}

size_t EndOfAsciiRun(std::string_view text, size_t at) {
  while (at < text.size()) {
    const size_t step = IsWord(text[at])            ? 1
                        : JointLength(text, at) > 0 ? JointLength(text, at)
                                                    : ApostropheLength(text, at);
    if (step == 0) break;
    at += step;
  }
  return at;
}

size_t EndOfForeignWord(std::string_view text, size_t at) {
  char32_t code = 0;
  for (bool first = true; at < text.size(); first = false) {
    if (IsAscii(text[at])) {
      if (!IsAlpha(text[at])) break;
      ++at;
      continue;
    }
    const size_t n = Utf8Length(text.substr(at), &code);
    if (n == 0 || IsSeparator(code) || (IsIdeograph(code) && !first)) break;
    at += n;
    if (IsIdeograph(code)) break;
  }
  return at;
}

std::string WithoutApostrophes(std::string_view run) {
  std::string out;
  for (size_t i = 0; i < run.size(); ++i) {
    if (run[i] == '\'') continue;
    if (run.substr(i, 3) == "\xE2\x80\x99") {
      i += 2;
      continue;
    }
    out += run[i];
  }
  return out;
}

}  // namespace

std::string_view Tokenizer::NextRun(std::string_view text, size_t* at) {
  const size_t begin = *at;
  if (IsWord(text[begin])) {
    *at = EndOfAsciiRun(text, begin);
    // A Latin word with an accent inside: leave it to the other reader, whole.
    if (*at < text.size() && !IsAscii(text[*at]) && IsAlpha(text[*at - 1])) {
      const size_t end = EndOfForeignWord(text, *at);
      if (end > *at && text.find_first_of("._:-", begin) >= *at) *at = end;
    }
    return text.substr(begin, *at - begin);
  }
  if (!IsAscii(text[begin])) {
    const size_t end = EndOfForeignWord(text, begin);
    *at = std::max(end, begin + 1);
    return text.substr(begin, end - begin);
  }
  ++*at;
  return {};
}

const std::vector<std::string>& Tokenizer::Terms(std::string_view run) {
  if (run.size() > 4 * kMaxTermBytes) return scratch_ = Expand(run);
  const auto found = seen_.find(std::string(run));
  if (found != seen_.end()) return found->second;
  if (seen_.size() >= kRemembered) seen_.clear();
  return seen_.emplace(std::string(run), Expand(run)).first->second;
}

std::vector<std::string> Tokenizer::Expand(std::string_view raw) {
  const std::string run = WithoutApostrophes(raw);
  const std::string_view core = TrimUnderscores(run);
  std::vector<std::string> terms;
  const auto add = [&](std::string_view piece) {
    const std::string word = Lower(piece);
    if (IsStopWord(word)) return;
    const bool letters = std::all_of(word.begin(), word.end(), IsAlpha);
    std::string term = letters ? Singular(word) : word;
    if (Keep(term)) terms.push_back(std::move(term));
  };
  const std::vector<std::string_view> parts = Parts(core);
  if (parts.size() > 1 && HasJoint(core) && core.size() <= kMaxTermBytes) {
    terms.push_back(Lower(core));
  }
  for (const std::string_view part : parts) {
    add(part);
    if (!IsCamel(part)) continue;
    for (const std::string_view piece : CamelPieces(part)) add(piece);
  }
  return terms;
}

std::vector<std::string> Tokenize(std::string_view text) {
  Tokenizer tokenizer;
  std::vector<std::string> terms;
  tokenizer.ForEachTerm(text, [&](std::string_view term) { terms.emplace_back(term); });
  return terms;
}

std::vector<std::string> Identifiers(std::string_view text) {
  std::vector<std::string> found;
  for (size_t at = 0; at < text.size();) {
    if (!IsWord(text[at])) {
      ++at;
      continue;
    }
    const size_t end = EndOfAsciiRun(text, at);
    const std::string_view run = TrimUnderscores(text.substr(at, end - at));
    at = end;
    const bool letters = std::any_of(run.begin(), run.end(), IsAlpha);
    const bool digits = std::any_of(run.begin(), run.end(), IsDigit);
    if (!letters || run.size() > kMaxTermBytes) continue;
    if (!HasJoint(run) && !digits && !IsCamel(run)) continue;
    if (std::ranges::find(found, run) == found.end()) found.emplace_back(run);
  }
  return found;
}

}  // namespace kb
