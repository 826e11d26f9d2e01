// Variables that outlive a call: a place to keep an answer for the next one. And, in host code,
// objects whose constructors run when the library is loaded, before anything watches.
#include <algorithm>
#include <array>

#include "tdd/cheat_internal.h"
#include "tdd/spec_reader.h"

namespace kb {
namespace {

constexpr size_t kLongest = 500;  // of a declaration up to its name's end: bounds the time
constexpr const char* kStateMend = "use a workspace of launch.yaml, cleared by 'zero: true'";

// What stands between a specifier and the first ( ; = { or [.
struct Declaration {
  bool variable = false;
  std::string words;  // blanks around each
  [[nodiscard]] bool Has(std::string_view word) const {
    return words.find(" " + std::string(word) + " ") != std::string::npos;
  }
};

bool IsAttribute(std::string_view word) {
  return word == "__attribute__" || word == "__align__" || word == "alignas" ||
         word == "__launch_bounds__" || word == "__declspec" || word == "decltype";
}

// Past template arguments; at most kLongest bytes.
size_t AfterAngles(std::string_view code, size_t at) {
  int depth = 0;
  for (const size_t stop = std::min(code.size(), at + kLongest); at < stop; ++at) {
    if (code[at] == '<') ++depth;
    if (code[at] == '>' && --depth == 0) return at + 1;
    if (code[at] == ';' || code[at] == '{') break;
  }
  return at;
}

Declaration ReadDeclaration(std::string_view code, size_t at) {
  Declaration declaration;
  declaration.words = " ";
  const size_t stop = std::min(code.size(), at + kLongest);
  while ((at = SkipBlanks(code, at)) < stop) {
    const std::string_view word = WordAt(code, at);
    if (!word.empty()) {
      at += word.size();
      if (IsAttribute(word)) {
        at = SkipBlanks(code, at);
        if (at < stop && code[at] == '(') at = AfterBracket(code.substr(0, stop), at);
      } else {
        declaration.words += std::string(word.substr(0, 64)) + " ";
      }
      continue;
    }
    const char c = code[at];
    if (c == '<') {
      at = AfterAngles(code, at);
      continue;
    }
    if (c == '[' && at + 1 < stop && code[at + 1] == '[') {
      at = AfterBracket(code.substr(0, stop), at);
      continue;
    }
    if (c == '*') declaration.words += "* ";
    if (c == ';' || c == '=' || c == '{' || c == '[') {
      declaration.variable = declaration.words.size() > 1 && !declaration.Has("operator");
      return declaration;
    }
    if (c == '(') {
      const size_t inside = SkipBlanks(code, at + 1);
      declaration.variable = inside < stop && code[inside] >= '0' && code[inside] <= '9';
      return declaration;
    }
    if (c == ')' || c == '}') return declaration;
    ++at;
  }
  return declaration;
}

// Data, or a pointer to it, that cannot change.
bool IsFixed(const Declaration& declaration) {
  if (declaration.Has("constexpr")) return true;
  const size_t star = declaration.words.rfind("* ");
  const size_t last = declaration.words.rfind(" const ");
  return last != std::string::npos && (star == std::string::npos || last > star);
}

bool IsType(const Declaration& declaration) {
  return declaration.Has("struct") || declaration.Has("class") || declaration.Has("union") ||
         declaration.Has("enum") || declaration.Has("namespace") || declaration.Has("using");
}

void FindSpecifier(CheatFile& file, std::string_view specifier, const char* why) {
  const std::string_view code = file.plain;
  for (size_t at = FindWord(code, specifier); at != std::string_view::npos;
       at = FindWord(code, specifier, at + 1)) {
    const size_t next = SkipBlanks(code, at + specifier.size());
    if (next < code.size() && (code[next] == '{' || code[next] == ',')) continue;  // of a lambda
    const Declaration declaration = ReadDeclaration(code, at + specifier.size());
    if (!declaration.variable || IsFixed(declaration) || IsType(declaration)) continue;
    if (declaration.Has("__shared__")) continue;
    file.AddAt(Severity::kWarning, "cheat-static-state", at,
               "a " + std::string(specifier) + " variable " + why, kStateMend);
  }
}

bool BeginsWithWord(std::string_view text, std::string_view word) {
  return WordAt(text, 0) == word;
}

// Statements of a host source outside of all functions and types.
class TopLevel {
 public:
  explicit TopLevel(CheatFile* file) : file_(file), code_(file->plain) {}

  void Whole() {
    while (at_ < code_.size()) Step();
  }

 private:
  void Step() {
    const char c = code_[at_];
    if (statement_.empty()) start_ = at_;
    if (c == ';') {
      Judge();
      statement_.clear();
      ++at_;
    } else if (c == '{') {
      Brace();
    } else if (c == '}') {
      statement_.clear();  // of a namespace or extern "C"
      ++at_;
    } else if (c == '(' || c == '[') {
      const size_t end = AfterBracket(code_, at_);
      const std::string_view inside = code_.substr(at_ + 1, end - at_ - 1);
      const size_t first = SkipBlanks(inside, 0);
      const bool value =
          first < inside.size() &&
          std::string_view("0123456789\"'&-").find(inside[first]) != std::string_view::npos;
      statement_ += c == '[' ? "[]" : value ? "(1)" : "()";
      at_ = end;
    } else {
      const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (!blank) {
        statement_ += c;
      } else if (!statement_.empty() && statement_.back() != ' ') {
        statement_ += ' ';
      }
      ++at_;
    }
  }

  void Brace() {
    const std::string_view head = statement_;
    if (head.find("namespace") != std::string_view::npos || head.starts_with("extern \"")) {
      if (head.find('(') == std::string_view::npos) {
        statement_.clear();
        ++at_;
        return;
      }
    }
    at_ = AfterBracket(code_, at_);
    const bool type = head.find("struct ") != std::string_view::npos ||
                      head.find("class ") != std::string_view::npos ||
                      head.find("union ") != std::string_view::npos ||
                      head.find("enum ") != std::string_view::npos;
    const size_t equals = head.find('=');
    const bool function =
        head.find('(') < equals && !(type && head.find('(') == std::string_view::npos);
    if (function) {
      statement_.clear();
    } else {
      statement_ += "{}";
    }
  }

  [[nodiscard]] bool IsPlainType() const {
    constexpr std::array<std::string_view, 14> kPlain = {
        "int",      "float",  "double", "bool",   "char", "long", "short",
        "unsigned", "signed", "void",   "size_t", "half", "dim3", "auto"};
    const std::string_view type = std::string_view(statement_).substr(0, statement_.find('='));
    int angles = 0;  // std::map<int, int*> is no plain type
    for (size_t at = 0; at < type.size();) {
      if (type[at] == '<') ++angles;
      if (type[at] == '>') --angles;
      const std::string_view word = WordAt(type, at);
      const bool plain = type[at] == '*' || word.ends_with("_t") ||
                         std::find(kPlain.begin(), kPlain.end(), word) != kPlain.end();
      if (plain && angles <= 0) return true;
      at += std::max<size_t>(1, word.size());
    }
    return false;
  }

  void Constructed(const char* what) {
    file_->AddAt(Severity::kError, "cheat-constructor", start_, what,
                 "make it constexpr, or make it in kb_run");
  }

  void Judge() {
    constexpr std::array<std::string_view, 9> kNoVariable = {
        "using",  "typedef",   "static_assert", "extern",    "template",
        "friend", "namespace", "asm",           "__global__"};
    for (const std::string_view word : kNoVariable) {
      if (BeginsWithWord(statement_, word)) return;
    }
    const std::string_view text = statement_;
    const auto has = [&](std::string_view what) {
      return text.find(what) != std::string_view::npos;
    };
    if (text.empty() || text == " " || HasWord(text, "constexpr") || HasWord(text, "constinit") ||
        HasWord(text, "operator"))
      return;
    if (HasWord(text, "__device__") || HasWord(text, "__constant__")) return;
    const bool type = HasWord(text, "struct") || HasWord(text, "class") || HasWord(text, "union") ||
                      HasWord(text, "enum");
    if (type) {  // struct A {}; or struct A {} a;
      const size_t close = text.rfind("{}");
      if (close == std::string_view::npos || SkipBlanks(text, close + 2) == text.size()) return;
      return Constructed("an object beside its type, made when the library is loaded");
    }
    const size_t equals = text.find('=');
    const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals);
    if (value.find('(') != std::string_view::npos || value.find("[]{") != std::string_view::npos ||
        has("(1)")) {
      return Constructed("a variable whose value is worked out when the library is loaded");
    }
    if (equals == std::string_view::npos && has("()")) return;  // a function
    if (!IsPlainType()) {
      if (!HasWord(text, "const"))
        Constructed("an object that may be made when the library is loaded");
      return;
    }
    if (HasWord(text, "const") && !has("*")) return;
    file_->AddAt(Severity::kWarning, "cheat-static-state", start_,
                 "a global variable keeps its value between calls: could remember an answer",
                 "keep it in kb_run");
  }

  CheatFile* file_;
  std::string_view code_;
  size_t at_ = 0, start_ = 0;
  std::string statement_;
};

}  // namespace

void FindLastingState(CheatFile& file) {
  constexpr const char* kWhy = "keeps its value between calls: could remember an answer";
  FindSpecifier(file, "__device__", kWhy);
  FindSpecifier(file, "__managed__", kWhy);
  FindSpecifier(file, "static", kWhy);
  FindSpecifier(file, "thread_local", kWhy);
  if (file.host()) TopLevel(&file).Whole();
}

}  // namespace kb
