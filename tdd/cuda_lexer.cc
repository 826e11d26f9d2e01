#include "tdd/cuda_lexer.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "tdd/cuda_marks.h"

namespace kb {
namespace {

constexpr size_t kMaxBytes = 1 << 20;
constexpr int kMaxSteps = 256;

constexpr std::string_view kMarks[] = {"<<<", ">>>", "<<=", ">>=", "...", "::", "->", "++", "--",
                                       "<<",  ">>",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
                                       "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^="};
constexpr std::string_view kTypes[] = {
    "float",       "double",       "int",           "unsigned",       "signed",  "long",
    "short",       "char",         "bool",          "void",           "auto",    "const",
    "half",        "half2",        "bf16",          "__half",         "__half2", "__half_raw",
    "nv_bfloat16", "nv_bfloat162", "__nv_bfloat16", "__nv_bfloat162", "volatile"};
constexpr std::string_view kVectorBases[] = {"char", "uchar", "short",    "ushort",   "int",
                                             "uint", "float", "long",     "longlong", "double",
                                             "dim",  "ulong", "ulonglong"};
constexpr std::string_view kNoOperand[] = {"return", "case", "else", "typename", "const",
                                           "sizeof", "new",  "goto", "volatile", "__restrict__"};

template <size_t N>
bool IsIn(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<CudaToken> Run() {
    while (at_ < text_.size()) Step();
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Ahead(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  void MoveTo(size_t found, size_t past) {
    at_ = found == std::string_view::npos ? text_.size() : std::min(found + past, text_.size());
  }
  void Push(CudaToken::Kind kind, size_t begin) {
    CudaToken token;
    token.kind = kind;
    token.at = begin;
    token.text = text_.substr(begin, at_ - begin);
    tokens_.push_back(token);
    fresh_line_ = false;
  }

  void Step() {
    const char c = Peek();
    if (c == '\n') {
      fresh_line_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\\' || c == '\f' || c == '\v') {
      ++at_;
    } else if (Ahead("//") || (c == '#' && fresh_line_)) {
      SkipLine();
    } else if (Ahead("/*")) {
      MoveTo(text_.find("*/", at_ + 2), 2);
    } else if (c == '"' || c == '\'') {
      Quoted(at_);
    } else if (IsNameStart(c)) {
      Name();
    } else if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) {
      Number();
    } else {
      Mark();
    }
  }

  // To the line's end, over lines that end with a backslash and comments within.
  void SkipLine() {
    const bool directive = Peek() == '#';
    while (at_ < text_.size() && Peek() != '\n') {
      if (directive && Ahead("//")) {
        SkipLine();
      } else if (directive && Ahead("/*")) {
        MoveTo(text_.find("*/", at_ + 2), 2);
      } else if (Ahead("\\\r\n")) {
        at_ += 3;
      } else {
        at_ += Ahead("\\\n") ? 2 : 1;
      }
    }
  }

  void Quoted(size_t begin) {
    const char quote = Peek();
    ++at_;
    while (at_ < text_.size() && Peek() != quote && Peek() != '\n') at_ += Peek() == '\\' ? 2 : 1;
    at_ = std::min(at_ + (Peek() == quote ? 1 : 0), text_.size());
    Push(CudaToken::Kind::kText, begin);
  }

  void Raw(size_t begin) {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return Quoted(begin);
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    MoveTo(text_.find(close, open), close.size());
    Push(CudaToken::Kind::kText, begin);
  }

  void Name() {
    const size_t begin = at_;
    while (IsNameStart(Peek()) || IsDigit(Peek())) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    const bool prefix = name == "L" || name == "u" || name == "U" || name == "u8";
    if (Peek() == '"' && name.ends_with('R') && name.size() <= 3) return Raw(begin);
    if (prefix && (Peek() == '"' || Peek() == '\'')) return Quoted(begin);
    Push(CudaToken::Kind::kName, begin);
  }

  void Number() {
    const size_t begin = at_;
    while (IsNameStart(Peek()) || IsDigit(Peek()) || Peek() == '.' || Peek() == '\'') {
      const char c = Peek();
      ++at_;
      const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
      if (exponent && !text_.substr(begin).starts_with("0x") && (Peek() == '+' || Peek() == '-')) {
        ++at_;
      }
    }
    Push(CudaToken::Kind::kNumber, begin);
  }

  void Mark() {
    const size_t begin = at_;
    size_t size = 1;
    for (std::string_view mark : kMarks) {
      if (size == 1 && Ahead(mark)) size = mark.size();
    }
    at_ += size;
    Push(CudaToken::Kind::kMark, begin);
  }

  std::string_view text_;
  size_t at_ = 0;
  bool fresh_line_ = true;
  std::vector<CudaToken> tokens_;
};

bool IsVectorType(std::string_view name) {
  if (name.empty() || name.back() < '1' || name.back() > '4') return false;
  name.remove_suffix(1);
  return IsIn(kVectorBases, name);
}

// "(float)" and "(const char*)" before an operand.
bool IsCast(const CudaSource& source, int close) {
  const int open = source.tokens[close].partner;
  if (open < 0 || open + 1 == close || close - open > 6) return false;
  if (source.At(open - 1) == "sizeof" || source.At(open - 1) == "alignof") return false;
  for (int i = open + 1; i < close; ++i) {
    if (source.At(i) != "*" && source.At(i) != "&" && !IsTypeName(source.At(i))) return false;
  }
  return true;
}

bool EndsOperand(const CudaSource& source, int i) {
  const std::string_view text = source.At(i);
  if (source.IsName(i)) return !IsIn(kNoOperand, text) && !IsTypeName(text);
  return source.IsNumber(i) || text == "]" || (text == ")" && !IsCast(source, i));
}

bool BeginsOperand(const CudaSource& source, int i) {
  const std::string_view text = source.At(i);
  if (source.IsName(i)) return !IsIn(kNoOperand, text) || text == "sizeof";
  return source.IsNumber(i) || text == "(" || text == "-" || text == "+" || text == "*" ||
         text == "&" || text == "~" || text == "!" || text == "::";
}

// `Name* name = ...`, `Name* name;`
bool DeclaresPointer(const CudaSource& source, int star) {
  if (!source.IsName(star - 1) || !source.IsName(star + 1)) return false;
  const std::string_view after = source.At(star + 2), before = source.At(star - 2);
  return after == "=" || before == "const" ||
         (source.BeginsStatement(star - 1) && (after == ";" || after == "," || after == "["));
}

}  // namespace

bool IsTypeName(std::string_view name) {
  return IsIn(kTypes, name) || (name.ends_with("_t") && name.size() > 2) || IsVectorType(name);
}

std::string_view CudaSource::At(int i) const {
  return i >= 0 && i < size() ? tokens[i].text : std::string_view();
}
bool CudaSource::IsName(int i) const {
  return i >= 0 && i < size() && tokens[i].kind == CudaToken::Kind::kName;
}
bool CudaSource::IsNumber(int i) const {
  return i >= 0 && i < size() && tokens[i].kind == CudaToken::Kind::kNumber;
}

std::string_view CudaSource::Span(int first, int last) const {
  if (first < 0 || last >= size() || last < first) return {};
  return text.substr(tokens[first].at,
                     tokens[last].at + tokens[last].text.size() - tokens[first].at);
}

int CudaSource::StatementEnd(int i) const {
  for (int steps = 0; i >= 0 && i < size() && steps < kMaxSteps; ++steps) {
    const std::string_view t = tokens[i].text;
    if (t == ";") return i;
    if (t == ")" || t == "]" || t == "}") return -1;
    const bool opens = tokens[i].partner > i && !tokens[i].angle;
    i = opens ? tokens[i].partner + 1 : i + 1;
  }
  return -1;
}

bool CudaSource::BeginsStatement(int i) const {
  if (i <= 0) return i == 0;
  const std::string_view before = At(i - 1);
  if (before == ";") return tokens[i].place == CudaToken::Place::kPlain;
  if (before == "{" || before == "}" || before == "else" || before == "do") return true;
  if (before != ")" || tokens[i - 1].partner < 1) return false;
  const std::string_view keyword = At(tokens[i - 1].partner - 1);
  return keyword == "if" || keyword == "for" || keyword == "while" || keyword == "constexpr";
}

bool CudaSource::IsBinary(int i) const {
  if (i <= 0 || i + 1 >= size() || tokens[i].angle || tokens[i - 1].angle) return false;
  if (BeginsStatement(i)) return false;  // "if (ok) *p = 1;"
  if (!EndsOperand(*this, i - 1) || !BeginsOperand(*this, i + 1)) return false;
  return At(i) != "*" || !DeclaresPointer(*this, i);
}

CudaSource LexCuda(std::string_view text) {
  CudaSource source;
  source.text = text;
  source.tokens = Lexer(text.substr(0, kMaxBytes)).Run();
  MarkCuda(&source);
  return source;
}

}  // namespace kb
