// Commands that run what they have just fetched or decoded: `curl ... | sh` and its kin.
#include <algorithm>

#include "kb/lint_internal.h"

namespace kb {
namespace {

constexpr size_t kEnd = std::string_view::npos;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// One command of a pipeline: words up to a '|', the end of the logical line, of the code
// span, or of the command.
struct Segment {
  std::vector<std::string_view> words;
  size_t end = 0;
  bool piped = false;  // ends with '|'
};

class Pipelines {
 public:
  explicit Pipelines(const LintSource& source) : source_(source), text_(source.lower) {}

  // In a table row '|' parts cells and "\|" is a pipe.
  Segment Read(size_t begin) {
    const int line = source_.LineAt(begin);
    table_ = !source_.InCode(line) && Trim(source_.Line(line).substr(0, 64)).starts_with('|');
    span_ = source_.InInlineCode(begin);
    Segment segment;
    char quote = 0;
    size_t word = kEnd;
    size_t i = begin;
    for (; i < text_.size() && !Ends(i, quote); ++i) {
      const char c = text_[i];
      const bool gap = (IsSpace(c) && quote == 0) || IsCellPipe(i);
      if (c == '"' || c == '\'') quote = quote == 0 ? c : quote == c ? '\0' : quote;
      if (!gap) {
        word = word == kEnd ? i : word;
        continue;
      }
      if (word != kEnd) segment.words.push_back(text_.substr(word, i - word));
      word = kEnd;
    }
    if (word != kEnd) segment.words.push_back(text_.substr(word, i - word));
    segment.end = i;
    segment.piped =
        i < text_.size() && text_[i] == '|' && (!table_ || IsCellPipe(i - 1)) && !IsOr(i);
    return segment;
  }

 private:
  // True if the command that is being read ends before text_[i].
  bool Ends(size_t i, char quote) const {
    const char c = text_[i];
    if (c == '\n') return !Continues(i);
    if (c == '`') return span_;
    if (c == '|') return quote == 0;
    return quote == 0 && (c == ';' || (c == '&' && IsCommandEnd(i)));
  }
  // The backslash of "\|" in a table.
  bool IsCellPipe(size_t i) const {
    return table_ && text_[i] == '\\' && i + 1 < text_.size() && text_[i + 1] == '|';
  }
  // True if the line that ends at `newline` goes on: it ends with '\' or '|'.
  bool Continues(size_t newline) const {
    size_t i = newline;
    while (i > 0 && (text_[i - 1] == ' ' || text_[i - 1] == '\r' || text_[i - 1] == '\t')) --i;
    return i > 0 && (text_[i - 1] == '\\' || text_[i - 1] == '|');
  }
  bool IsOr(size_t i) const { return i + 1 < text_.size() && text_[i + 1] == '|'; }
  // "&&" or "& "; not the '&' of a URL or of "2>&1", nor "|&".
  bool IsCommandEnd(size_t i) const {
    const char next = i + 1 < text_.size() ? text_[i + 1] : '\n';
    const char before = i > 0 ? text_[i - 1] : ' ';
    return next == '&' || (IsSpace(next) && before != '|' && before != '>');
  }

  const LintSource& source_;
  std::string_view text_;
  bool table_ = false;  // of the segment being read
  bool span_ = false;   // it stands in inline code
};

std::string_view StripQuotes(std::string_view word) {
  static constexpr std::string_view kEdge = "\"'`(){}[],.:;!?*&<>";
  const size_t first = word.find_first_not_of(kEdge);
  if (first == kEnd) return word.substr(0, 0);
  return word.substr(first, word.find_last_not_of(kEdge) - first + 1);
}

enum class Interpreter { kNone, kShell, kScript };

Interpreter InterpreterOf(std::string_view word) {
  static constexpr std::string_view kShells[] = {"sh",
                                                 "bash",
                                                 "zsh",
                                                 "dash",
                                                 "ksh",
                                                 "ash",
                                                 "fish",
                                                 "iex",
                                                 "pwsh",
                                                 "powershell",
                                                 "invoke-expression"};
  static constexpr std::string_view kScripts[] = {"python", "perl", "ruby", "node", "php"};
  word = StripQuotes(word);
  const size_t slash = word.rfind('/');
  if (slash != kEnd) word.remove_prefix(slash + 1);
  for (std::string_view shell : kShells) {
    if (word == shell) return Interpreter::kShell;
  }
  while (!word.empty() && (IsDigit(word.back()) || word.back() == '.')) word.remove_suffix(1);
  for (std::string_view script : kScripts) {
    if (word == script) return Interpreter::kScript;
  }
  return Interpreter::kNone;
}

// The first word that is the command itself, after sudo, env, assignments and their options.
size_t CommandWord(const std::vector<std::string_view>& words) {
  static constexpr std::string_view kWrappers[] = {"sudo",  "env",  "exec", "command",
                                                   "nohup", "time", "doas", "&"};
  bool wrapped = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool wrapper =
        std::find(std::begin(kWrappers), std::end(kWrappers), words[i]) != std::end(kWrappers);
    const bool assignment = words[i].find('=') != kEnd && words[i][0] != '-';
    const bool option = wrapped && words[i][0] == '-';
    if (!wrapper && !assignment && !option) return i;
    wrapped = wrapped || wrapper;
  }
  return words.size();
}

// Whether the command reads its program from standard input: an interpreter without a file.
bool RunsItsInput(const Segment& segment) {
  const size_t command = CommandWord(segment.words);
  if (command == segment.words.size()) return false;
  const Interpreter interpreter = InterpreterOf(segment.words[command]);
  if (interpreter == Interpreter::kNone) return false;
  for (size_t i = command + 1; i < segment.words.size(); ++i) {
    const std::string_view word = segment.words[i];
    if (word == "-" || word == "-s" || word == "/dev/stdin" || word == "<<<") return true;
    if (word[0] == '-') {
      if (word == "-c" || (interpreter == Interpreter::kScript && word.size() == 2)) return false;
      continue;
    }
    if (word[0] == '>' || word.starts_with("2>")) return true;
    // A file: its input is data. Prose that follows ("| sh to install") is none.
    return StripQuotes(word).find_first_of("./$") == kEnd;
  }
  return true;
}

enum class Origin { kFetched, kDecoded };

// What the words beginning at the command of interest bring in, if anything.
bool Brings(const Segment& segment, Origin origin) {
  if (segment.words.size() < 2) return false;
  if (origin == Origin::kDecoded) {
    return std::any_of(segment.words.begin() + 1, segment.words.end(), [](std::string_view word) {
      return word == "-d" || word == "--decode" || word == "-di" || word == "-r";
    });
  }
  return std::any_of(segment.words.begin() + 1, segment.words.end(),
                     [](std::string_view word) { return word[0] != '-' && word != "\\"; });
}

bool IsWordAt(std::string_view text, size_t at, size_t size) {
  const char before = at == 0 ? ' ' : text[at - 1];
  const char after = at + size < text.size() ? text[at + size] : ' ';
  return !IsAlnum(before) && before != '-' && before != '_' && before != '.' && IsSpace(after);
}

// True if what stands before `at` makes a shell run what stands there: eval "$(, bash <(.
bool IsEvaluated(std::string_view text, size_t at) {
  std::string_view before = text.substr(at < 80 ? 0 : at - 80, std::min<size_t>(at, 80));
  before = before.substr(before.rfind('\n') + 1);
  const size_t open = before.find_last_not_of(" \t");
  if (open == kEnd) return false;
  before = before.substr(0, open + 1);
  const bool substitution = before.ends_with("$(") || before.ends_with("<(");
  if (!substitution) return false;
  const bool process = before.back() == '(' && before[before.size() - 2] == '<';
  before.remove_suffix(2);
  while (!before.empty() && (before.back() == ' ' || before.back() == '"')) before.remove_suffix(1);
  const size_t space = before.find_last_of(" \t`;&|(");
  const std::string_view word = space == kEnd ? before : before.substr(space + 1);
  if (word == "eval" || word == "source" || word == ".") return true;
  if (process) return InterpreterOf(word) != Interpreter::kNone;
  if (word != "-c") return false;
  const std::string_view rest = Trim(before.substr(0, before.size() - 2));
  return InterpreterOf(rest.substr(rest.find_last_of(" \t`;&|(") + 1)) != Interpreter::kNone;
}

void ScanCommand(const LintSource& source, std::string_view name, Origin origin,
                 LintReport& report) {
  const char* rule = origin == Origin::kFetched ? "safety-pipe-to-shell" : "safety-base64-to-shell";
  const char* what = origin == Origin::kFetched
                         ? "what a server sends is run unseen by a shell or interpreter"
                         : "encoded text is decoded and run: nobody can see what it does";
  const std::string_view text = source.lower;
  Pipelines pipelines(source);
  for (size_t at = Find(text, name); at != kEnd;) {
    size_t next = at + name.size();
    if (IsWordAt(text, at, name.size())) {
      if (IsEvaluated(text, at)) report.Add(rule, source.LineAt(at), what);
      Segment segment = pipelines.Read(at);
      const bool brings = Brings(segment, origin);
      while (segment.piped) {
        segment = pipelines.Read(segment.end + 1);
        if (brings && RunsItsInput(segment)) {
          report.Add(rule, source.LineAt(at), what);
          break;
        }
      }
      next = std::max(next, segment.end);
    }
    at = Find(text, name, next);
  }
}

}  // namespace

void LintPipes(const LintSource& source, LintReport& report) {
  for (const char* name : {"curl", "wget", "iwr", "irm", "invoke-webrequest"}) {
    ScanCommand(source, name, Origin::kFetched, report);
  }
  for (const char* name : {"base64", "base32", "xxd", "openssl"}) {
    ScanCommand(source, name, Origin::kDecoded, report);
  }
  for (const char* call : {"exec(base64.b64decode", "eval(base64.b64decode", "eval(atob("}) {
    for (size_t at = Find(source.lower, call); at != kEnd; at = Find(source.lower, call, at + 1)) {
      report.Add("safety-base64-to-shell", source.LineAt(at),
                 "encoded text is decoded and run: nobody can see what it does");
    }
  }
}

}  // namespace kb
