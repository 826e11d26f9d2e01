#include "cli/snippet.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <map>

#include "cli/table.h"
#include "indexer/tokenizer.h"
#include "kb/file.h"
#include "kb/markdown.h"

namespace kb {
namespace {

constexpr size_t kMaxWords = 4000;  // of a passage; a longer one is cut, not searched further
constexpr const char kSpace[] = " \t\v\f\r\n";

struct Word {
  std::string_view text;
  int term = -1;  // index of the query's term that it holds
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The terms of a question. Tokenize costs microseconds, so only words that may hold the start of
// a term are tokenized: those of which some one to three bytes have the hash of such a start.
class Terms {
 public:
  explicit Terms(std::string_view query) {
    for (const std::string& term : Tokenize(query)) {
      index_.emplace(term, static_cast<int>(index_.size()));
      const size_t length = std::min(term.size(), kStart);
      if (length > 0) starts_[length - 1].set(Hash(std::string_view(term).substr(0, length)));
    }
  }

  [[nodiscard]] size_t size() const { return index_.size(); }

  // The index of the term that `word` holds; -1: none.
  [[nodiscard]] int In(std::string_view word) const {
    if (!MayHoldOne(word)) return -1;
    for (const std::string& term : Tokenize(word)) {
      if (const auto found = index_.find(term); found != index_.end()) return found->second;
    }
    return -1;
  }

 private:
  static constexpr size_t kStart = 3;
  using Bits = std::bitset<4096>;

  static size_t Hash(std::string_view start) {
    size_t hash = 0;
    for (const char c : start) hash = hash * 37 + static_cast<unsigned char>(Lower(c));
    return hash % Bits().size();
  }

  [[nodiscard]] bool MayHoldOne(std::string_view word) const {
    for (size_t length = 1; length <= kStart; ++length) {
      const Bits& starts = starts_[length - 1];
      if (starts.none()) continue;
      for (size_t at = 0; at + length <= word.size(); ++at) {
        if (starts.test(Hash(word.substr(at, length)))) return true;
      }
    }
    return false;
  }

  std::map<std::string, int> index_;
  std::array<Bits, kStart> starts_;  // by length
};

std::vector<Word> WordsOf(std::string_view passage, const Terms& terms) {
  std::vector<Word> words;
  for (std::string_view line : SplitLines(passage)) {
    if (line.starts_with("#") || line.starts_with("```") || line.starts_with("~~~")) continue;
    for (size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;
         at = line.find_first_not_of(kSpace)) {
      line.remove_prefix(at);
      const std::string_view word = line.substr(0, line.find_first_of(kSpace));
      if (words.size() == kMaxWords) return words;
      words.push_back({word, terms.In(word)});
      line.remove_prefix(word.size());
    }
  }
  return words;
}

int CellsOf(std::string_view word) {
  const bool is_plain = std::ranges::all_of(word, [](char c) { return c > ' ' && c <= '~'; });
  return is_plain ? static_cast<int>(word.size()) : DisplayWidth(Printable(word));
}

// The window [first, last) of at most `width` cells with the most different terms.
std::pair<size_t, size_t> BestWindow(const std::vector<Word>& words, const std::vector<int>& cells,
                                     size_t terms, int width) {
  std::vector<int> held(terms);  // by term: how often in the window
  std::pair<size_t, size_t> best = {0, 0};
  int most = 0, different = 0;
  int used = -1;
  for (size_t first = 0, last = 0; last < words.size();) {
    used += cells[last] + 1;
    if (words[last].term >= 0 && held[words[last].term]++ == 0) ++different;
    ++last;
    for (; used > width && first < last; ++first) {
      used -= cells[first] + 1;
      if (words[first].term >= 0 && --held[words[first].term] == 0) --different;
    }
    const bool longer = first == best.first && different == most;  // fill the line
    if (different > most || longer || best.second == 0) {
      most = different;
      best = {first, last};
    }
  }
  return best;
}

}  // namespace

std::vector<SnippetWord> MakeSnippet(std::string_view passage, std::string_view query, int width) {
  const Terms terms(query);
  const std::vector<Word> words = WordsOf(passage, terms);
  std::vector<int> cells;
  for (const Word& word : words) cells.push_back(CellsOf(word.text));
  const auto [first, last] = BestWindow(words, cells, terms.size(), width);
  std::vector<SnippetWord> snippet;
  for (size_t i = first; i < last; ++i) {
    snippet.push_back({Printable(words[i].text), words[i].term >= 0});
  }
  return snippet;
}

std::string SnippetText(const std::vector<SnippetWord>& words, bool bold) {
  std::string text;
  for (const SnippetWord& word : words) {
    if (!text.empty()) text += ' ';
    text += word.matched && bold ? "\x1b[1m" + word.text + "\x1b[0m" : word.text;
  }
  return text;
}

}  // namespace kb
