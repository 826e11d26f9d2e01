#include "tdd/cuda_marks.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

namespace kb {
namespace {

using Place = CudaToken::Place;

constexpr int kMaxTemplateTokens = 64;
// Statements in which a planted fault would be a matter of layout, not of the kernel's result.
constexpr std::string_view kFrozen[] = {"__shared__",
                                        "extern",
                                        "static_assert",
                                        "using",
                                        "typedef",
                                        "template",
                                        "constexpr",
                                        "static",
                                        "assert",
                                        "asm",
                                        "__asm__",
                                        "__builtin_assume",
                                        "__assume",
                                        "__asm",
                                        "printf",
                                        "goto",
                                        "__builtin_unreachable"};
constexpr std::string_view kBeforeBody[] = {"const", "noexcept", "override", "mutable"};

template <size_t N>
bool IsIn(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

void PairBrackets(CudaSource* source) {
  std::vector<int> open;
  for (int i = 0; i < source->size(); ++i) {
    const std::string_view t = source->At(i);
    if (t == "(" || t == "[" || t == "{") open.push_back(i);
    const char want = t == ")" ? '(' : t == "]" ? '[' : t == "}" ? '{' : '\0';
    if (want == '\0' || open.empty() || source->At(open.back())[0] != want) continue;
    source->tokens[open.back()].partner = i;
    source->tokens[i].partner = open.back();
    open.pop_back();
  }
}

bool MayStandInTemplate(const CudaSource& source, int i, bool header) {
  constexpr std::string_view kAllowed[] = {"::", ",", "*", "&", "...", "+", "-", "/", "%"};
  return source.tokens[i].kind == CudaToken::Kind::kName || source.IsNumber(i) ||
         IsIn(kAllowed, source.At(i)) || (header && source.At(i) == "=");
}

bool MayFollowTemplate(const CudaSource& source, int i) {
  constexpr std::string_view kAllowed[] = {"(", "::", "{",   ",",  ")", ">", "&",
                                           "*", ";",  "...", ">>", "[", "&&"};
  return source.IsName(i) || IsIn(kAllowed, source.At(i));
}

// The token that closes the template bracket at `open`, or -1 if it is a comparison.
int ClosingAngle(const CudaSource& source, int open) {
  const bool header = source.At(open - 1) == "template";
  int depth = 0;
  for (int i = open; i < source.size() && i < open + kMaxTemplateTokens; ++i) {
    const std::string_view t = source.At(i);
    if (t == "<") {
      ++depth;
    } else if (t.size() <= 3 && t.find_first_not_of('>') == std::string_view::npos) {
      depth -= static_cast<int>(t.size());
      if (depth < 0) return -1;
      if (depth == 0) return header || MayFollowTemplate(source, i + 1) ? i : -1;
    } else if (t == "(" && source.tokens[i].partner > i) {
      i = source.tokens[i].partner;
    } else if (!MayStandInTemplate(source, i, header)) {
      return -1;
    }
  }
  return -1;
}

void MarkAngles(CudaSource* source) {
  for (int i = 1; i < source->size(); ++i) {
    if (source->At(i) != "<" || !source->IsName(i - 1)) continue;
    const int close = ClosingAngle(*source, i);
    if (close < 0) continue;
    source->tokens[i].angle = source->tokens[close].angle = true;
    source->tokens[i].partner = close;
    source->tokens[close].partner = i;
  }
}

void MarkBodies(CudaSource* source) {
  std::vector<bool> bodies;
  for (int i = 0; i < source->size(); ++i) {
    if (source->At(i) == "{") {
      const std::string_view before = source->At(i - 1);
      const bool inside = !bodies.empty() && bodies.back();
      bodies.push_back(inside || before == ")" || IsIn(kBeforeBody, before));
    }
    source->tokens[i].code = !bodies.empty() && bodies.back();
    if (source->At(i) == "}" && !bodies.empty()) bodies.pop_back();
  }
}

// How far a token closes code: to the end of its statement, of its brackets, or not at all.
int FrozenUntil(const CudaSource& source, int i) {
  const CudaToken& token = source.tokens[i];
  if (token.angle) return token.partner;
  if (IsIn(kFrozen, token.text) && source.At(i - 1) != "if") return source.StatementEnd(i);
  const bool bound = token.text == "[" && source.IsName(i - 1) &&
                     ((source.IsName(i - 2) && source.At(i - 2) != "return") ||
                      (source.At(i - 2) == "*" && IsTypeName(source.At(i - 3))) ||
                      (i >= 2 && source.tokens[i - 2].angle));
  if (!bound) return -1;
  int end = token.partner;
  while (end >= 0 && source.At(end + 1) == "[") end = source.tokens[end + 1].partner;
  return end;
}

void Freeze(CudaSource* source) {
  int until = -1;
  for (int i = 0; i < source->size(); ++i) {
    until = std::max(until, FrozenUntil(*source, i));
    if (i <= until) source->tokens[i].code = false;
  }
}

void SetPlace(CudaSource* source, int begin, int end, Place place) {
  for (int i = begin; i < end; ++i) source->tokens[i].place = place;
}

void SetBody(const CudaSource& source, int close, CudaLoop* loop) {
  loop->body_begin = close + 1;
  const bool braces = source.At(close + 1) == "{" && source.tokens[close + 1].partner > close;
  const int end = braces ? source.tokens[close + 1].partner : source.StatementEnd(close + 1);
  loop->body_end = std::max(end, loop->body_begin);
}

void AddFor(CudaSource* source, int open, int close) {
  const int first = source->StatementEnd(open + 1);
  const int second = first < 0 ? -1 : source->StatementEnd(first + 1);
  if (second < 0 || second > close) return;
  CudaLoop loop;
  loop.counted = true;
  loop.init_begin = open + 1, loop.init_end = first;
  loop.test_begin = first + 1, loop.test_end = second;
  loop.step_begin = second + 1, loop.step_end = close;
  SetPlace(source, loop.init_begin, loop.init_end, Place::kLoopInit);
  SetPlace(source, loop.test_begin, loop.test_end, Place::kLoopTest);
  SetPlace(source, loop.step_begin, loop.step_end, Place::kLoopStep);
  SetBody(*source, close, &loop);
  source->loops.push_back(loop);
}

void AddWhile(CudaSource* source, int open, int close) {
  CudaLoop loop;
  loop.test_begin = open + 1, loop.test_end = close;
  SetPlace(source, loop.test_begin, loop.test_end, Place::kWhileTest);
  SetBody(*source, close, &loop);
  source->loops.push_back(loop);
}

void FindLoops(CudaSource* source) {
  for (int i = 0; i + 1 < source->size(); ++i) {
    const int close = source->tokens[i + 1].partner;
    // In a header within a header (a lambda) the outer one's word counts.
    if (source->At(i + 1) != "(" || close < 0 || source->tokens[i].place != Place::kPlain) continue;
    if (source->At(i) == "for") AddFor(source, i + 1, close);
    if (source->At(i) == "while") AddWhile(source, i + 1, close);
  }
  std::vector<int> change(source->tokens.size() + 1);
  for (const CudaLoop& loop : source->loops) {
    ++change[loop.body_begin];
    --change[loop.body_end];
  }
  int depth = 0;
  for (int i = 0; i < source->size(); ++i) source->tokens[i].loops = depth += change[i];
}

// `lo = mid + 1;` within `while (lo < hi)`: a fault there is one more loop without an end.
void MarkWhileSteps(CudaSource* source) {
  int budget = 1 << 20;  // tokens in all: whiles may nest
  for (const CudaLoop& loop : source->loops) {
    if (loop.counted) continue;
    std::set<std::string_view> names;
    for (int i = loop.test_begin; i < loop.test_end && budget > 0; ++i, --budget) {
      if (source->IsName(i)) names.insert(source->At(i));
    }
    for (int i = loop.body_begin; i < loop.body_end && budget > 0; ++i, --budget) {
      if (!source->BeginsStatement(i)) continue;
      const bool prefix = source->At(i) == "++" || source->At(i) == "--";
      if (!names.contains(source->At(prefix ? i + 1 : i))) continue;
      const int end = source->StatementEnd(i);
      if (end > i) SetPlace(source, i, end, Place::kLoopStep);
      budget -= std::max(0, end - i);
    }
  }
}

}  // namespace

void MarkCuda(CudaSource* source) {
  PairBrackets(source);
  MarkAngles(source);
  MarkBodies(source);
  Freeze(source);
  FindLoops(source);
  MarkWhileSteps(source);
}

}  // namespace kb
