#include <algorithm>
#include <unordered_map>

#include "kb/journal_line.h"
#include "kb/trace.h"

namespace kb {
namespace {

std::string_view Trim(std::string_view text, const char* what = " \t") {
  const size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

std::vector<std::string_view> Cells(std::string_view row) {
  std::vector<std::string_view> cells;
  row = Trim(row);
  if (!row.empty() && row.front() == '|') row.remove_prefix(1);
  if (!row.empty() && row.back() == '|') row.remove_suffix(1);
  for (size_t at = 0; at <= row.size() && cells.size() < 64;) {
    const size_t end = std::min(row.find('|', at), row.size());
    cells.push_back(Trim(row.substr(at, end - at), " \t*`"));
    at = end + 1;
  }
  return cells;
}

// Whether a column of this title, in lower case, holds the attempts.
bool NamesAttempts(std::string_view title) {
  for (const std::string_view word : {"attempt", "iter", "round", "experiment", "version"}) {
    if (title.find(word) != std::string_view::npos) return true;
  }
  return title == "#";
}

class Journal {
 public:
  explicit Journal(const Document& document)
      : body_line_(document.body_line), lines_(SplitLines(document.body)) {
    in_code_.resize(lines_.size());
    for (const Block& block : document.blocks) {
      if (block.type != BlockType::kCode) continue;
      for (int i = block.first_line; i <= block.last_line; ++i)
        in_code_[static_cast<size_t>(i - 1)] = true;
    }
  }

  std::vector<Attempt> Run() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (in_code_[i]) continue;
      const std::string_view line = lines_[i];
      if (const size_t rows = ReadTable(i); rows > 0) {
        i += rows - 1;
        continue;
      }
      if (const AttemptMark mark = ReadAttemptMark(line); !mark.id.empty()) {
        const size_t index = Find(mark.id, i);
        current_ = index < attempts_.size() ? index : kNone;
        level_ = HeadingLevel(line);
        if (current_ == kNone) continue;
        SetOnce(attempts_[current_].hypothesis, mark.rest);
        ReadJournalLine(mark.rest, attempts_[current_]);
        continue;
      }
      const size_t level = HeadingLevel(line);
      if (level > 0 && (level_ == 0 || level <= level_)) current_ = kNone;
      if (current_ != kNone) ReadJournalLine(line, attempts_[current_]);
    }
    return std::move(attempts_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);

  // 1..6 for "# Title"; 0 for another line.
  static size_t HeadingLevel(std::string_view line) {
    const size_t level = std::min(line.find_first_not_of('#'), line.size());
    return level <= 6 && line.substr(level, 1) == " " ? level : 0;
  }

  // The attempt of this id, made if there is room; else one past the last.
  size_t Find(const std::string& id, size_t line) {
    const auto found = index_.find(id);
    if (found != index_.end()) return found->second;
    if (attempts_.size() >= kMaxAttempts) return attempts_.size();
    Attempt attempt;
    attempt.id = id;
    attempt.line = static_cast<int>(line) + body_line_;
    attempt.derived = true;
    attempts_.push_back(std::move(attempt));
    return index_[id] = attempts_.size() - 1;
  }

  // A table whose first column is the attempt; the number of lines read, 0 if there is none.
  size_t ReadTable(size_t at) {
    if (at + 2 >= lines_.size() || lines_[at].find('|') == std::string_view::npos) return 0;
    const std::string_view rule = Trim(lines_[at + 1]);
    if (rule.size() < 3 || rule.find_first_not_of("|-: \t") != std::string_view::npos) return 0;
    const std::string head = Lowered(lines_[at]);
    const std::vector<std::string_view> titles = Cells(head);
    if (!NamesAttempts(titles[0])) return 0;
    size_t row = at + 2;
    for (; row < lines_.size() && lines_[row].find('|') != std::string_view::npos; ++row) {
      ReadRow(titles, row);
    }
    return row - at;
  }

  void ReadRow(const std::vector<std::string_view>& titles, size_t row) {
    const std::vector<std::string_view> cells = Cells(lines_[row]);
    AttemptMark mark = ReadAttemptMark(cells[0]);
    const std::string numbered = "attempt " + std::string(cells[0]);
    if (mark.id.empty()) mark = ReadAttemptMark(numbered);
    const size_t index = mark.id.empty() ? kNone : Find(mark.id, row);
    if (index >= attempts_.size()) return;
    for (size_t i = 1; i < std::min(cells.size(), titles.size()); ++i) {
      ReadJournalCell(titles[i], cells[i], attempts_[index]);
    }
  }

  int body_line_;
  std::vector<std::string_view> lines_;
  std::vector<bool> in_code_;
  std::vector<Attempt> attempts_;
  std::unordered_map<std::string, size_t> index_;
  size_t current_ = kNone;  // the attempt that lines belong to
  size_t level_ = 0;        // of its heading; 0: a list item or a paragraph
};

}  // namespace

std::vector<Attempt> ReadJournal(const Document& document) { return Journal(document).Run(); }

}  // namespace kb
