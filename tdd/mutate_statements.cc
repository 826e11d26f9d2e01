// Faults of whole statements and expressions: a barrier, a guard or a factor left out, two
// indices swapped.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "tdd/mutate_edits.h"

namespace kb {
namespace {

using Place = CudaToken::Place;

constexpr std::string_view kWaits[] = {"bar.sync",
                                       "barrier.sync",
                                       "barrier.cluster.wait",
                                       "cp.async.wait",
                                       "mbarrier.try_wait",
                                       "wgmma.wait_group",
                                       "wgmma.fence",
                                       "fence.",
                                       "membar",
                                       "cp.async.bulk.wait",
                                       "bar.warp.sync"};
constexpr std::string_view kScales[] = {"scale", "alpha", "gamma", "rstd",   "rms",
                                        "inv",   "rcp",   "norm",  "weight", "factor"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

template <size_t N>
bool HasAny(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return Has(text, part); });
}

// A dropped arrival would leave its waiters waiting for ever; "async" is no "sync".
bool IsWaitName(std::string_view name) {
  const std::string lower = Lower(name);
  if (Has(lower, "wait")) return !Has(lower, "try");
  if (Has(lower, "init") || Has(lower, "arrive") || Has(lower, "expect")) return false;
  const bool sync = Has(lower, "sync") && !Has(lower, "async");
  return sync || Has(lower, "fence") || lower == "barrier";
}

// The `)` of a call that is a whole statement: "block.sync()", "Wait<1>(bar, phase)"; -1.
int WholeCall(const CudaSource& source, int first, std::string_view* callee) {
  const int end = source.StatementEnd(first);
  if (end <= first || source.At(end - 1) != ")" || OperandEnd(source, first) != end - 1) return -1;
  int name = source.tokens[end - 1].partner - 1;
  if (name >= first && source.tokens[name].angle) name = source.tokens[name].partner - 1;
  if (name < first || !source.IsName(name)) return -1;
  *callee = source.At(name);
  return end - 1;
}

// The `)` of an asm statement that waits and gives no value; -1.
int WaitingAsm(const CudaSource& source, int i) {
  const int end = source.StatementEnd(i);
  if (end < 0 || source.At(end - 1) != ")") return -1;
  const std::string_view text = source.Span(i, end);
  if (Has(text, "\"=") || Has(text, "\"+")) return -1;
  return HasAny(text, kWaits) ? end - 1 : -1;
}

bool IsOrder(std::string_view t) { return t == "<" || t == "<=" || t == ">" || t == ">="; }

// A condition made of orders alone (and && or ||): one that keeps within bounds.
bool IsGuard(const CudaSource& source, int begin, int end) {
  bool any = false;
  for (int i = begin; i < end; ++i) {
    const std::string_view t = source.At(i);
    if (t == "==" || t == "!=" || t == "?") return false;
    any = any || (IsOrder(t) && !source.tokens[i].angle);
  }
  return any && end - begin < 64;
}

// What a dropped `if` with its `)` at `close` becomes; "" if it must stay.
std::string GuardValue(const CudaSource& source, int close) {
  const bool braces = source.At(close + 1) == "{";
  const std::string_view then = source.At(close + (braces ? 2 : 1));
  if (then == "break") return "";  // the loop might not end
  return then == "return" || then == "continue" ? "false" : "true";
}

// The first token of the condition before `?`, or -1: "x = i < n ? a : b", "(i < n ? a : b)".
int ConditionBegin(const CudaSource& source, int question) {
  for (int i = question - 1; i > 0 && question - i < 32; --i) {
    const std::string_view t = source.At(i);
    if (t == "=" || t == "return" || t == "," || t == "(" || t == "[" || t == "{" || t == "+=") {
      return i + 1;
    }
    if (t == ")" || t == "]") i = std::max(source.tokens[i].partner, 1);
    if (t == ";" || t == "}" || t == "?" || t == ":") return -1;
  }
  return -1;
}

bool IsScale(std::string_view operand) {
  const std::string lower = Lower(operand.substr(0, operand.find_first_of("[(")));
  return lower == "w" || lower == "s" || HasAny(lower, kScales);
}

bool IsAxis(std::string_view t) {
  return t == "threadIdx" || t == "blockIdx" || t == "blockDim" || t == "gridDim";
}

// `a * b + c` with names a and c at `star` - 1 and after the plus: the index of c, or -1.
int IndexProduct(const CudaSource& source, int star) {
  const int left = source.At(star - 1) == ")" ? star - 2 : star - 1;
  if (!source.IsBinary(star) || !source.IsName(left) || source.At(left - 1) == ".") return -1;
  const int factor = OperandEnd(source, star + 1);
  if (factor < 0 || source.At(factor + 1) != "+" || !source.IsName(factor + 2)) return -1;
  return OperandEnd(source, factor + 2) == factor + 2 ? factor + 2 : -1;
}

}  // namespace

Edits SyncEdits(const CudaSource& source) {
  Edits edits;
  for (int i = 0; i < source.size(); ++i) {
    if (!source.IsName(i) || !source.BeginsStatement(i)) continue;
    const bool assembly = source.At(i) == "asm" || source.At(i) == "__asm__";
    if (!source.tokens[i].code && !assembly) continue;
    std::string_view callee;
    int last = assembly ? WaitingAsm(source, i) : WholeCall(source, i, &callee);
    if (last < 0 || (!assembly && !IsWaitName(callee))) continue;
    edits.push_back(Replace(source, "dropped-sync", i, last, ""));
  }
  return edits;
}

Edits GuardEdits(const CudaSource& source) {
  Edits edits;
  const auto add = [&](int begin, int end, const std::string& now) {
    if (begin >= end || !IsGuard(source, begin, end)) return;
    edits.push_back(Replace(source, "dropped-guard", begin, end - 1, now));
  };
  for (int i = 0; i < source.size(); ++i) {
    if (!source.tokens[i].code || source.tokens[i].place != Place::kPlain) continue;
    const int close = source.At(i + 1) == "(" ? source.tokens[i + 1].partner : -1;
    if (source.At(i) == "if" && close > 0) {
      const std::string now = GuardValue(source, close);
      if (!now.empty()) add(i + 2, close, now);
    }
    const int begin = source.At(i) == "?" ? ConditionBegin(source, i) : -1;
    if (begin > 0) add(begin, i, "true");
  }
  return edits;
}

Edits ScaleEdits(const CudaSource& source) {
  Edits edits;
  for (int i = 1; i < source.size(); ++i) {
    if (!source.tokens[i].code || source.tokens[i].place != Place::kPlain) continue;
    const std::string_view t = source.At(i);
    if ((t == "rsqrtf" || t == "sqrtf" || t == "rsqrt" || t == "sqrt") && source.At(i + 1) == "(") {
      edits.push_back(Replace(source, "dropped-scale", i, i, ""));
    }
    const bool assigns = t == "*=" || t == "/=";
    if (!assigns && ((t != "*" && t != "/") || !source.IsBinary(i))) continue;
    const int end = OperandEnd(source, i + 1);
    if (end < 0 || (assigns && source.At(end + 1) != ";")) continue;
    const std::string_view operand = source.Span(i + 1, end);
    if (t[0] == '*' && !IsScale(operand)) continue;
    edits.push_back(Replace(source, "dropped-scale", i, end, ""));
  }
  return edits;
}

Edits SwappedIndexEdits(const CudaSource& source) {
  Edits edits;
  const auto swap = [&](int first, int a, int b, int last) {  // tokens or spans in brackets
    std::string now(source.Span(first, last));
    const std::string x(source.tokens[a].text), y(source.tokens[b].text);
    const size_t origin = source.tokens[first].at;
    now.replace(source.tokens[b].at - origin, y.size(), x);
    now.replace(source.tokens[a].at - origin, x.size(), y);
    edits.push_back(Replace(source, "swapped-index", first, last, now));
  };
  for (int i = 0; i + 2 < source.size(); ++i) {
    if (!source.tokens[i].code || source.tokens[i].place == Place::kLoopStep) continue;
    const std::string_view member = source.At(i + 2);
    if (IsAxis(source.At(i)) && source.At(i + 1) == "." && member.size() == 1) {
      const char* now = member == "x" ? "y" : "x";
      edits.push_back(Replace(source, "swapped-index", i + 2, i + 2, now));
    }
    const int close = source.tokens[i].partner;
    if (source.At(i) == "[" && close > i + 1 && source.At(close + 1) == "[") {
      const int last = source.tokens[close + 1].partner;
      if (last <= close + 2) continue;
      const std::string now = "[" + std::string(source.Span(close + 2, last - 1)) + "][" +
                              std::string(source.Span(i + 1, close - 1)) + "]";
      edits.push_back(Replace(source, "swapped-index", i, last, now));
    }
    const int right = source.At(i) == "*" ? IndexProduct(source, i) : -1;
    const int left = source.At(i - 1) == ")" ? i - 2 : i - 1;
    if (right > 0 && source.At(left) != source.At(right)) swap(left, left, right, right);
  }
  return edits;
}

}  // namespace kb
