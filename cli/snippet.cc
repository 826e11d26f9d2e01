#include "cli/snippet.h"

#include <algorithm>
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

// Tokenize costs microseconds: only words that hold the start of a term are worth it.
bool MayHold(std::string_view word, const std::string& term) {
  const std::string_view start = std::string_view(term).substr(0, 3);
  return std::search(word.begin(), word.end(), start.begin(), start.end(),
                     [](char a, char b) { return Lower(a) == b; }) != word.end();
}

int TermIn(std::string_view word, const std::map<std::string, int>& terms) {
  bool may = false;
  for (const auto& [term, index] : terms) may = may || MayHold(word, term);
  if (!may) return -1;
  for (const std::string& term : Tokenize(word)) {
    if (const auto found = terms.find(term); found != terms.end()) return found->second;
  }
  return -1;
}

std::vector<Word> WordsOf(std::string_view passage, const std::map<std::string, int>& terms) {
  std::vector<Word> words;
  for (std::string_view line : SplitLines(passage)) {
    if (line.starts_with("#") || line.starts_with("```") || line.starts_with("~~~")) continue;
    for (size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;
         at = line.find_first_not_of(kSpace)) {
      line.remove_prefix(at);
      const std::string_view word = line.substr(0, line.find_first_of(kSpace));
      if (words.size() == kMaxWords) return words;
      words.push_back({word, TermIn(word, terms)});
      line.remove_prefix(word.size());
    }
  }
  return words;
}

std::map<std::string, int> TermsOf(std::string_view query) {
  std::map<std::string, int> terms;
  for (const std::string& term : Tokenize(query)) {
    terms.emplace(term, static_cast<int>(terms.size()));
  }
  return terms;
}

// The window [first, last) of at most `width` cells with the most different terms.
std::pair<size_t, size_t> BestWindow(const std::vector<Word>& words, const std::vector<int>& cells,
                                     int width) {
  std::map<int, int> held;  // term -> how often in the window
  std::pair<size_t, size_t> best = {0, 0};
  size_t most = 0;
  int used = -1;
  for (size_t first = 0, last = 0; last < words.size();) {
    used += cells[last] + 1;
    if (words[last].term >= 0) ++held[words[last].term];
    ++last;
    for (; used > width && first < last; ++first) {
      used -= cells[first] + 1;
      if (words[first].term >= 0 && --held[words[first].term] == 0) held.erase(words[first].term);
    }
    const bool longer = first == best.first && held.size() == most;  // fill the line
    if (held.size() > most || longer || best.second == 0) {
      most = held.size();
      best = {first, last};
    }
  }
  return best;
}

}  // namespace

std::vector<SnippetWord> MakeSnippet(std::string_view passage, std::string_view query, int width) {
  const std::vector<Word> words = WordsOf(passage, TermsOf(query));
  std::vector<int> cells;
  for (const Word& word : words) cells.push_back(DisplayWidth(Printable(word.text)));
  const auto [first, last] = BestWindow(words, cells, width);
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
