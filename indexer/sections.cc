#include "indexer/sections.h"

#include <algorithm>
#include <span>

#include "kb/markdown.h"

namespace kb {
namespace {

constexpr int kBytesPerWord = 24;  // longer words count as several: hashes, Chinese, base64
constexpr size_t kNameBytes = 120;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Counts words as it is fed bytes; long ones as several.
class WordCounter {
 public:
  void Add(char c) {
    run_ = IsSpace(c) ? 0 : run_ + 1;
    words_ += run_ == 1 || run_ == kBytesPerWord + 1;
    if (run_ > kBytesPerWord) run_ = 1;
  }
  [[nodiscard]] int words() const { return words_; }

 private:
  int run_ = 0;
  int words_ = 0;
};

int CountWords(std::string_view text) {
  WordCounter counter;
  for (char c : text) counter.Add(c);
  return counter.words();
}

// Letters and digits alone, small: "Warp Shuffle" is "warp-shuffle".
std::string Bare(std::string_view text) {
  std::string bare;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0) bare += c;
  }
  return bare;
}

bool IsListItem(std::string_view line) {
  size_t at = std::min(line.find_first_not_of(' '), line.size());
  if (at > 3 || at == line.size()) return false;
  const size_t digits = std::min(line.find_first_not_of("0123456789", at), line.size()) - at;
  at += digits;
  const std::string_view marks = digits > 0 ? ".)" : "-*+";
  return at + 1 < line.size() && marks.find(line[at]) != std::string_view::npos &&
         line[at + 1] == ' ';
}

// Cuts the body into atoms and sections, in one pass over its top-level blocks.
class Cutter {
 public:
  explicit Cutter(const Document& document)
      : body_(document.body), lines_(SplitLines(body_)), title_(Bare(document.title)) {
    const std::vector<Block>& blocks = document.blocks;
    sections_.emplace_back();
    size_t begin = AddLead(blocks.empty() ? body_.size() : LineBegin(blocks[0].first_line));
    for (size_t i = 0; i < blocks.size();) {
      size_t next = i + 1;  // the blocks between are fences inside block i
      while (next < blocks.size() && blocks[next].first_line <= blocks[i].last_line) ++next;
      const size_t end = next < blocks.size() ? LineBegin(blocks[next].first_line) : body_.size();
      AddBlock(blocks[i], std::span(blocks).subspan(i + 1, next - i - 1), begin, end);
      begin = end;
      i = next;
    }
    if (atoms_.empty()) AddAtom(0, body_.size(), 0);
  }

  [[nodiscard]] Sections Take() { return {std::move(sections_), std::move(atoms_)}; }

 private:
  struct Open {
    int level;
    int section;
  };

  // Of a 1-based line.
  [[nodiscard]] size_t LineBegin(int line) const {
    const size_t index = line - 1;
    return index < lines_.size() ? lines_[index].data() - body_.data() : body_.size();
  }

  void AddBlock(const Block& block, std::span<const Block> fences, size_t begin, size_t end) {
    if (block.type == BlockType::kHeading) OpenSection(block);
    sections_.back().bare = sections_.back().bare && block.type == BlockType::kHeading;
    const int words = CountWords(body_.substr(begin, end - begin));
    if (words <= kMaxWords) {
      AddAtom(begin, end, words);
    } else if (IsFence(block)) {
      const size_t fence_end = std::min(end, LineBegin(block.last_line + 1));
      AddAtom(begin, fence_end, CountWords(body_.substr(begin, fence_end - begin)));
      AddLines(block.last_line + 1, false, {}, fence_end, end);
    } else {
      AddLines(block.first_line, block.type == BlockType::kList, fences, begin, end);
    }
  }

  // Lines before the first block: blank, or link definitions, which are no blocks. Gives where
  // the first block's atom begins.
  size_t AddLead(size_t end) {
    if (CountWords(body_.substr(0, end)) <= kMaxWords) return 0;
    AddLines(1, false, {}, 0, end);
    return end;
  }

  [[nodiscard]] bool IsFence(const Block& block) const {
    const std::string_view line = lines_[block.first_line - 1];
    const size_t mark = line.find_first_not_of(' ');
    return block.type == BlockType::kCode && mark != std::string_view::npos &&
           (line[mark] == '`' || line[mark] == '~');
  }

  void OpenSection(const Block& heading) {
    while (!open_.empty() && open_.back().level >= heading.level) open_.pop_back();
    Section section;
    section.first_atom = atoms_.size();
    section.parent = open_.empty() ? -1 : open_.back().section;
    // The children of the title are the document's first level.
    if (heading.level > 1 || Bare(heading.text) != title_) {
      section.name = CutText(heading.text, kNameBytes);
      open_.push_back({heading.level, static_cast<int>(sections_.size())});
    }
    sections_.push_back(std::move(section));
  }

  // What is too large, from `first_line` on: an atom a line, or an item of a list while it is
  // not too large itself. Fences inside stay whole.
  void AddLines(int first_line, bool list, std::span<const Block> fences, size_t begin,
                size_t end) {
    size_t atom = begin;
    int words = 0;
    bool whole = false;  // the atom holds a fence
    for (int line = first_line; LineBegin(line) < end; ++line) {
      const size_t at = LineBegin(line);
      while (!fences.empty() && line > fences.front().last_line) fences = fences.subspan(1);
      const bool inside = !fences.empty() && line > fences.front().first_line;
      const std::string_view text = lines_[line - 1];
      const int line_words = CountWords(text);
      if (!inside && (!list || IsListItem(text) || words + line_words > kMaxWords)) {
        AddRun(atom, at, words, whole);
        atom = at;
        words = 0;
        whole = false;
      }
      words += line_words;
      whole = whole || (!fences.empty() && line >= fences.front().first_line);
    }
    AddRun(atom, end, words, whole);
  }

  // Cut where words begin, or between characters of a giant word, if too large.
  void AddRun(size_t begin, size_t end, int words, bool whole) {
    if (words <= kMaxWords || whole) return AddAtom(begin, end, words);
    WordCounter counter;
    size_t atom = begin;
    for (size_t i = begin; i < end; ++i) {
      const bool word_begins = i > begin && IsSpace(body_[i - 1]) && !IsSpace(body_[i]);
      const bool full = counter.words() >= kMaxWords && !IsContinuation(body_[i]);
      if (full || (word_begins && counter.words() >= kMaxWords - kScrapWords)) {
        AddAtom(atom, i, counter.words());
        atom = i;
        counter = WordCounter();
      }
      counter.Add(body_[i]);
    }
    AddAtom(atom, end, counter.words());
  }

  void AddAtom(size_t begin, size_t end, int words) {
    if (begin == end) return;
    atoms_.push_back({begin, words});
    sections_.back().words += words;
  }

  std::string_view body_;
  std::vector<std::string_view> lines_;
  std::string title_;
  std::vector<Open> open_;
  std::vector<Atom> atoms_;
  std::vector<Section> sections_;
};

}  // namespace

Sections CutSections(const Document& document) { return Cutter(document).Take(); }

std::string CutText(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && IsContinuation(text[bytes])) --bytes;
  text.resize(bytes);
  return text;
}

}  // namespace kb
