#include "tests/tdd/emulator/kernel_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace kb {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where `word` stands as a whole word from `from` on, outside strings and markers; npos: nowhere.
size_t FindWord(std::string_view text, std::string_view word, size_t from) {
  for (size_t at = from; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    bool left = at == 0 || !IsWord(text[at - 1]);
    bool right = at + word.size() == text.size() || !IsWord(text[at + word.size()]);
    if (left && right) return at;
  }
  return std::string_view::npos;
}

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    } else if (text[at] == '#') {  // a line marker of the preprocessor
      at = std::min(text.find('\n', at), text.size());
    } else {
      break;
    }
  }
  return at;
}

// Behind the parenthesis that closes the one at `at`.
size_t SkipParentheses(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsWord(text[end])) ++end;
  return text.substr(at, end - at);
}

// The name before the parameters, behind "void" and __launch_bounds__(...); "": none.
std::string_view KernelName(std::string_view text, size_t at) {
  while ((at = SkipSpace(text, at)) < text.size()) {
    std::string_view word = WordAt(text, at);
    if (word.empty()) return "";
    size_t behind = SkipSpace(text, at + word.size());
    bool call = behind < text.size() && text[behind] == '(';
    if (word == "__launch_bounds__" || word == "__cluster_dims__" || word == "__attribute__" ||
        word == "__block_size__") {
      at = call ? SkipParentheses(text, behind) : behind;
    } else if (call) {
      return word;
    } else {
      at = behind;
    }
  }
  return "";
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.remove_suffix(1);
  }
  return text;
}

// "alignas(16) float s[]" -> a reference of that name; "" if it is no such declaration.
std::string Reference(std::string_view declaration) {
  declaration = Trim(declaration);
  for (std::string_view word : {"alignas", "__align__", "__attribute__"}) {
    size_t at = FindWord(declaration, word, 0);
    if (at != 0) continue;
    declaration = Trim(declaration.substr(SkipParentheses(declaration, declaration.find('('))));
  }
  size_t bracket = declaration.find('[');
  if (bracket == std::string_view::npos) return "";
  std::string_view before = Trim(declaration.substr(0, bracket));
  size_t begin = before.size();
  while (begin > 0 && IsWord(before[begin - 1])) --begin;
  std::string type(Trim(before.substr(0, begin))), name(before.substr(begin));
  for (std::string_view word : {"__align__", "alignas"}) {
    size_t at = FindWord(type, word, 0);
    if (at != std::string::npos) type.erase(at, SkipParentheses(type, type.find('(', at)) - at);
  }
  if (type.empty() || name.empty()) return "";
  std::string dimensions(declaration.substr(declaration.find(']') + 1));  // of s[][32]
  return "using kb_type_" + name + " = " + type + "; auto& " + name +
         " = *reinterpret_cast<kb_type_" + name + " (*)[(1 << 24)]" + dimensions +
         ">(kb_dynamic_shared);";
}

}  // namespace

std::vector<std::string> FindKernels(std::string_view text) {
  std::vector<std::string> names;
  constexpr std::string_view kGlobal = "__global__";
  for (size_t at = 0; (at = FindWord(text, kGlobal, at)) != std::string_view::npos;
       at += kGlobal.size()) {
    std::string name(KernelName(text, at + kGlobal.size()));
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
  return names;
}

namespace {

std::string RewriteDynamic(std::string_view text) {
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = FindWord(text, "extern", at)) != std::string_view::npos; at += 6) {
    size_t end = text.find(';', at);
    if (end == std::string_view::npos) break;
    size_t shared = FindWord(text.substr(0, end), "__shared__", at);
    if (shared == std::string_view::npos) continue;
    // extern "C" and whatever follows it is another matter.
    if (text.substr(at, shared - at).find_first_of("\"{}") != std::string_view::npos) continue;
    std::string declaration(text.substr(at + 6, shared - at - 6));
    declaration.append(" ").append(text.substr(shared + 10, end - shared - 10));
    std::string reference = Reference(declaration);
    if (reference.empty()) continue;
    out.append(text.substr(done, at - done)).append(reference);
    done = end + 1;
    at = end - 6;
  }
  return out.append(text.substr(done));
}

// g++ does not take "static thread_local alignas(16) float s[4]": the attribute may stand there.
std::string RewriteAlignment(std::string_view text) {
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = FindWord(text, "__shared__", at)) != std::string_view::npos;) {
    at = SkipSpace(text, at + 10);
    if (WordAt(text, at) != "alignas") continue;
    size_t open = SkipSpace(text, at + 7), end = SkipParentheses(text, open);
    out.append(text.substr(done, at - done)).append("__attribute__((aligned");
    out.append(text.substr(open, end - open)).append("))");
    done = at = end;
  }
  return out.append(text.substr(done));
}

}  // namespace

std::string RewriteShared(std::string_view text) { return RewriteAlignment(RewriteDynamic(text)); }

int FindInlineAssembly(std::string_view text) {
  size_t first = std::string_view::npos;
  for (std::string_view word : {"asm", "__asm", "__asm__"}) {
    first = std::min(first, FindWord(text, word, 0));
  }
  if (first == std::string_view::npos) return 0;
  size_t marker = text.rfind("\n# ", first);
  int line = 1;
  size_t at = 0;
  if (marker != std::string_view::npos) {
    line = std::atoi(std::string(text.substr(marker + 3, 10)).c_str());
    at = std::min(text.find('\n', marker + 1), first) + 1;
  }
  return line +
         static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                     text.begin() + static_cast<std::ptrdiff_t>(first), '\n'));
}

}  // namespace kb
