#include "cli/ncu_records.h"

#include <algorithm>

#include "kb/error.h"

namespace kb {
namespace {

constexpr size_t kNone = std::string_view::npos;

}  // namespace

void FailAtLine(int line, const std::string& what) {
  throw Error("Nsight Compute CSV, line " + std::to_string(line) + ": " + what);
}

std::string Unquoted(std::string_view cell) {
  std::string text;
  for (size_t i = 0; i < cell.size(); ++i) {
    text += cell[i];
    if (cell[i] == '"' && i + 1 < cell.size() && cell[i + 1] == '"') ++i;
  }
  return text;
}

std::string_view NcuRecords::Line() const {
  const size_t end = text_.find('\n', at_);
  std::string_view line = text_.substr(at_, end == kNone ? kNone : end - at_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void NcuRecords::SkipLine() {
  const size_t end = text_.find('\n', at_);
  at_ = end == kNone ? text_.size() : end + 1;
  ++line_;
}

Cells NcuRecords::Next(size_t max_cells) {
  Cells cells;
  begin_ = line_;
  do {
    if (cells.size() == max_cells) {
      FailAtLine(begin_, "more than " + std::to_string(max_cells) + " columns");
    }
    cells.push_back(!AtEnd() && text_[at_] == '"' ? Quoted() : Plain());
  } while (Take(','));
  static_cast<void>(Take('\r'));
  static_cast<void>(Take('\n'));
  ++line_;
  return cells;
}

bool NcuRecords::Take(char c) {
  if (AtEnd() || text_[at_] != c) return false;
  ++at_;
  return true;
}

std::string_view NcuRecords::Plain() {
  const size_t begin = at_;
  at_ = std::min(text_.find_first_of(",\r\n", at_), text_.size());
  return text_.substr(begin, at_ - begin);
}

std::string_view NcuRecords::Quoted() {
  const size_t begin = ++at_;
  while (true) {
    const size_t end = text_.find_first_of("\"\n", at_);
    if (end == kNone) FailAtLine(begin_, "a quoted cell has no end; is the file cut off?");
    at_ = end + 1;
    if (text_[end] == '\n') {
      ++line_;
    } else if (!Take('"')) {
      if (!AtEnd() && std::string_view(",\r\n").find(text_[at_]) == kNone) {
        FailAtLine(line_, "text after a closing quote; a quote inside a cell is written \"\"");
      }
      return text_.substr(begin, end - begin);
    }
  }
}

}  // namespace kb
