#include "tdd/cuda_text.h"

#include <algorithm>

namespace kb {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Joins continued lines: a backslash before a line end, blanks between them or not. The line ends
// that were taken out stand after the joined line; `joins` are the places where it was glued.
std::string JoinLines(std::string_view source, std::vector<size_t>* joins) {
  std::string text;
  text.reserve(source.size());
  size_t owed = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\\') {
      size_t end = i + 1;
      while (end < source.size() &&
             (source[end] == ' ' || source[end] == '\t' || source[end] == '\r')) {
        ++end;
      }
      if (end < source.size() && source[end] == '\n') {
        joins->push_back(text.size());
        ++owed;
        i = end;
        continue;
      }
      text += c;
    } else if (c == '\n') {
      text.append(owed + 1, '\n');
      owed = 0;
    } else {
      text += c;
    }
  }
  return text;
}

class Stripper {
 public:
  Stripper(CudaText* out, std::string text, std::vector<size_t> joins)
      : out_(out), text_(std::move(text)), joins_(std::move(joins)) {
    out_->code.reserve(text_.size());
  }

  void Whole() {
    FindTrigraphs();
    while (at_ < text_.size()) Step();
  }

 private:
  [[nodiscard]] bool Sees(std::string_view what) const {
    return std::string_view(text_).substr(at_, what.size()) == what;
  }
  void Keep() { out_->code += text_[at_++]; }
  void Blank() {
    out_->code += text_[at_] == '\n' ? '\n' : ' ';
    ++at_;
  }
  void Odd(size_t offset, std::string what) {
    if (out_->odd.size() >= 20) return;  // counting lines is slow
    const auto lines = std::count(text_.data(), text_.data() + offset, '\n');
    out_->odd.emplace_back(static_cast<int>(lines) + 1, std::move(what));
  }

  // Wherever they stand: one in a string could end it, where a compiler still knows them.
  void FindTrigraphs() {
    constexpr std::string_view kThird = "=/'()!<>-";
    for (size_t at = text_.find("?\?"); at != std::string::npos; at = text_.find("?\?", at + 1)) {
      if (at + 2 < text_.size() && kThird.find(text_[at + 2]) != std::string_view::npos) {
        Odd(at, "a trigraph");
      }
    }
  }

  void Step() {
    if (Sees("//")) return LineComment();
    if (Sees("/*")) return BlockComment();
    const char c = text_[at_];
    if (c == '"') return IsRaw() ? RawString() : Literal('"');
    if (c == '\'' && !IsSeparator()) return Literal('\'');
    if (c == '\\') Odd(at_, "a backslash outside of strings");
    if (Sees("%:")) Odd(at_, "a digraph for #");
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') joined_ = false;
    Keep();
  }

  void LineComment() {
    while (at_ < text_.size() && text_[at_] != '\n') Blank();
  }
  void BlockComment() {
    const size_t start = at_;
    const size_t end = text_.find("*/", at_ + 2);
    if (end == std::string::npos) Odd(start, "a comment that never ends");
    const size_t stop = end == std::string::npos ? text_.size() : end + 2;
    while (at_ < stop) Blank();
  }

  // The identifier or number that ends right before this place.
  [[nodiscard]] std::string_view WordBefore() const {
    size_t begin = at_;
    while (begin > 0 && at_ - begin < 64 &&
           (IsWordCharacter(text_[begin - 1]) || text_[begin - 1] == '\'')) {
      --begin;
    }
    return std::string_view(text_).substr(begin, at_ - begin);
  }
  // 1'000'000
  [[nodiscard]] bool IsSeparator() const {
    const std::string_view word = WordBefore();
    return !word.empty() && IsDigit(word[0]) && at_ + 1 < text_.size() &&
           IsWordCharacter(text_[at_ + 1]);
  }
  [[nodiscard]] bool IsRaw() const {
    const std::string_view word = WordBefore();
    return word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
  }

  std::string& OpenString() {
    if (!joined_ || out_->strings.empty()) out_->strings.push_back({"", out_->code.size()});
    joined_ = true;
    return out_->strings.back().text;
  }

  void RawString() {
    const size_t start = at_;
    const size_t open = text_.find('(', at_);
    const std::string end =
        ")" + text_.substr(at_ + 1, std::min<size_t>(open - at_ - 1, 16)) + "\"";
    const size_t close = open == std::string::npos ? open : text_.find(end, open);
    if (close == std::string::npos) Odd(start, "a raw string that never ends");
    const size_t stop = close == std::string::npos ? text_.size() : close + end.size();
    // Inside of it a compiler does not join lines, and might see its end elsewhere.
    const auto join = std::lower_bound(joins_.begin(), joins_.end(), start);
    if (join != joins_.end() && *join < stop)
      Odd(start, "a raw string with a backslash at a line's end");
    if (close != std::string::npos) OpenString() += text_.substr(open + 1, close - open - 1);
    while (at_ < stop) at_ == start || at_ + 1 == stop ? Keep() : Blank();
  }

  // To its quote or the line's end, where compilers end it too.
  void Literal(char quote) {
    std::string ignored;
    std::string& into = quote == '"' ? OpenString() : ignored;
    if (quote != '"') joined_ = false;
    Keep();
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      if (text_[at_] == '\\') {
        Escape(&into);
      } else {
        into += text_[at_];
        Blank();
      }
    }
    if (at_ < text_.size() && text_[at_] == quote) Keep();
  }

  void Escape(std::string* into) {
    Blank();
    if (at_ >= text_.size() || text_[at_] == '\n') return;
    const char c = text_[at_];
    if (c == 'x') {
      Blank();
      return Digits(16, 2, into);
    }
    if (c >= '0' && c <= '7') return Digits(8, 3, into);
    *into += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    Blank();
  }
  void Digits(int base, int most, std::string* into) {
    int value = 0;
    for (int i = 0; i < most && at_ < text_.size(); ++i) {
      const size_t digit = std::string_view("0123456789abcdef").find(Lower(text_[at_]));
      if (digit >= static_cast<size_t>(base)) break;  // npos too
      value = value * base + static_cast<int>(digit);
      Blank();
    }
    *into += static_cast<char>(value);
  }
  static char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

  CudaText* out_;
  std::string text_;
  std::vector<size_t> joins_;
  size_t at_ = 0;
  bool joined_ = false;  // nothing but blanks since the last string
};

}  // namespace

CudaText::CudaText(std::string_view source) {
  std::vector<size_t> joins;
  std::string text = JoinLines(source, &joins);
  Stripper(this, std::move(text), std::move(joins)).Whole();
  for (size_t at = code.find('\n'); at != std::string::npos; at = code.find('\n', at + 1)) {
    line_ends_.push_back(at);
  }
}

int CudaText::LineAt(size_t offset) const {
  return static_cast<int>(std::lower_bound(line_ends_.begin(), line_ends_.end(), offset) -
                          line_ends_.begin()) +
         1;
}

bool IsWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

size_t FindWord(std::string_view code, std::string_view word, size_t from) {
  if (word.empty()) return std::string_view::npos;
  for (size_t at = code.find(word, from); at != std::string_view::npos;
       at = code.find(word, at + 1)) {
    const bool begins = at == 0 || !IsWordCharacter(code[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == code.size() || !IsWordCharacter(code[end]))) return at;
  }
  return std::string_view::npos;
}

bool HasWord(std::string_view code, std::string_view word) {
  return FindWord(code, word) != std::string_view::npos;
}

}  // namespace kb
