// Faults of single tokens: operators, functions, constants, indices.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "tdd/mutate_edits.h"

namespace kb {
namespace {

using Place = CudaToken::Place;

struct Swap {
  std::string_view was, now;
};
constexpr Swap kBinary[] = {{"+", "-"}, {"-", "+"}, {"*", "+"}, {"/", "*"}, {"%", "/"}};
constexpr Swap kAssign[] = {{"+=", "-="}, {"-=", "+="}, {"*=", "+="},
                            {"/=", "*="}, {"++", "--"}, {"--", "++"}};
constexpr Swap kFunctions[] = {{"min", "max"},
                               {"max", "min"},
                               {"fminf", "fmaxf"},
                               {"fmaxf", "fminf"},
                               {"fmin", "fmax"},
                               {"fmax", "fmin"},
                               {"umin", "umax"},
                               {"umax", "umin"},
                               {"__hmin", "__hmax"},
                               {"__hmax", "__hmin"},
                               {"__hmin2", "__hmax2"},
                               {"__hmax2", "__hmin2"},
                               {"__hadd", "__hsub"},
                               {"__hadd2", "__hsub2"},
                               {"atomicMin", "atomicMax"},
                               {"atomicMax", "atomicMin"},
                               {"atomicAdd", "atomicMax"}};
constexpr std::string_view kFused[] = {"fmaf", "fma", "__fmaf_rn", "__fma_rn", "__hfma", "__hfma2"};
constexpr Swap kCompare[] = {{"<", "<="},  {"<=", "<"},  {">", ">="},  {">=", ">"},
                             {"==", "!="}, {"!=", "=="}, {"&&", "||"}, {"||", "&&"}};
constexpr std::string_view kLowest[] = {"INFINITY", "CUDART_INF_F", "CUDART_INF", "FLT_MAX",
                                        "DBL_MAX",  "HUGE_VALF",    "HUGE_VAL"};

template <size_t N>
std::string_view Find(const Swap (&swaps)[N], std::string_view was) {
  for (const Swap& swap : swaps) {
    if (swap.was == was) return swap.now;
  }
  return "";
}

template <size_t N>
bool IsIn(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// Where a fault makes no loop endless.
bool MayChange(const CudaToken& token) {
  return token.code && token.place != Place::kLoopStep && token.place != Place::kWhileTest;
}

bool IsSign(const CudaSource& source, int i) {
  return source.At(i) == "-" && !source.IsBinary(i) &&
         (source.IsName(i + 1) || source.IsNumber(i + 1) || source.At(i + 1) == "(");
}

// `a < b ? a : b`, `if (x > best) best = x;`: the same with <=.
bool IsChoiceOfOperands(const CudaSource& source, int i) {
  const int right = OperandEnd(source, i + 1);
  int left = i - 1;  // first token of a left operand of names and members
  while (left > 1 && source.At(left - 1) == "." && source.IsName(left - 2)) left -= 2;
  if (source.At(i - 1) == "]" && source.tokens[i - 1].partner > 0) {
    left = source.tokens[i - 1].partner - 1;
  }
  if (right < 0) return false;
  const std::string_view a = source.Span(left, i - 1), b = source.Span(i + 1, right);
  int first = right + 1;
  if (source.At(first) == ")") ++first;
  if (source.At(first) == "?") ++first;
  const int first_end = OperandEnd(source, first);
  const std::string_view between = source.At(first_end + 1);
  if (first_end < 0 || (between != ":" && between != "=")) return false;
  const int second_end = OperandEnd(source, first_end + 2);
  const std::string_view x = source.Span(first, first_end);
  const std::string_view y = source.Span(first_end + 2, second_end);
  return (x == a && y == b) || (x == b && y == a);
}

bool IsLowest(const CudaSource& source, int i) {
  if (!IsSign(source, i)) return false;
  const std::string_view number = source.IsNumber(i + 1) ? source.At(i + 1) : "";
  return IsIn(kLowest, source.At(i + 1)) || number.find("e3") != std::string_view::npos;
}

// The last token of a lowest value that begins at `i`, or -1.
int LowestEnd(const CudaSource& source, int i) {
  if (IsLowest(source, i)) return i + 1;
  const bool bits = source.At(i) == "__int_as_float" || source.At(i) == "__uint_as_float";
  if (bits && source.At(i + 2).starts_with("0xff8") && source.At(i + 3) == ")") return i + 3;
  const bool named = source.At(i) == "kNegInf" || source.At(i) == "kLowest" ||
                     source.At(i) == "kNegInfinity" || source.At(i) == "kMinusInfinity";
  return named && source.At(i + 1) != "(" ? i : -1;
}

bool IsZero(std::string_view number) {
  if (number.starts_with("0x")) return false;
  const size_t digits = number.find_first_of("fFuUlL");
  return number.substr(0, digits).find_first_not_of("0.") == std::string_view::npos;
}

std::string OneFor(std::string_view zero) {
  if (zero.find('.') == std::string_view::npos) return "1";
  return zero.back() == 'f' || zero.back() == 'F' ? "1.0f" : "1.0";
}

// "0x1f" and "16": half of it; "1": "2"; "" for what is no plain integer.
std::string Halved(std::string_view number) {
  unsigned long long n = 0;
  const bool hex = number.starts_with("0x");
  std::string_view digits = number.substr(hex ? 2 : 0);
  while (!digits.empty() && (digits.back() == 'u' || digits.back() == 'U')) digits.remove_suffix(1);
  if (digits.empty() || digits.size() > 8) return "";
  for (char c : digits) {
    const bool letter = hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    if (!letter && !(c >= '0' && c <= '9')) return "";
    n = n * (hex ? 16 : 10) + static_cast<unsigned>(letter ? (c | 0x20) - 'a' + 10 : c - '0');
  }
  if (n == 0) return "";
  return std::to_string(n == 1 ? 2 : n / 2);
}

// The third argument of a shuffle, or -1.
int ShuffleOffset(const CudaSource& source, int i) {
  if (!source.At(i).starts_with("__shfl_") || source.At(i + 1) != "(") return -1;
  int commas = 0;
  for (int k = i + 2; k < source.tokens[i + 1].partner; ++k) {
    if (source.tokens[k].partner > k) k = source.tokens[k].partner;
    if (source.At(k) == "," && ++commas == 2) return k + 1;
  }
  return -1;
}

// A number alone between `=` and `;`, `,`, `(...)` or `{...}` of a declaration.
bool IsInitial(const CudaSource& source, int i) {
  const std::string_view before = source.At(i - 1), after = source.At(i + 1);
  return source.tokens[i].place == Place::kPlain && before == "=" && (after == ";" || after == ",");
}

}  // namespace

int OperandEnd(const CudaSource& source, int i) {
  if (source.IsNumber(i)) return i;
  if (source.At(i) == "(") return source.tokens[i].partner;
  if (!source.IsName(i)) return -1;
  while (i + 1 < source.size()) {
    const std::string_view next = source.At(i + 1);
    const bool member = (next == "." || next == "->" || next == "::") && source.IsName(i + 2);
    const bool brackets = next == "[" || next == "(" || source.tokens[i + 1].angle;
    if (member) {
      i += 2;
    } else if (brackets && source.tokens[i + 1].partner > i) {
      i = source.tokens[i + 1].partner;
    } else {
      break;
    }
  }
  return i;
}

Edits ArithmeticEdits(const CudaSource& source) {
  Edits edits;
  const auto add = [&](int i, std::string_view now) {
    if (!now.empty()) edits.push_back(Replace(source, "arithmetic", i, i, std::string(now)));
  };
  for (int i = 0; i < source.size(); ++i) {
    if (!MayChange(source.tokens[i])) continue;
    const std::string_view t = source.At(i);
    if (source.tokens[i].kind == CudaToken::Kind::kMark) add(i, Find(kAssign, t));
    if (source.IsBinary(i)) add(i, Find(kBinary, t));
    if (IsSign(source, i) && !IsLowest(source, i)) add(i, "+");
    if (source.At(i + 1) != "(") continue;
    if (source.At(i - 1) != "." && source.At(i - 1) != "->") add(i, Find(kFunctions, t));
    if (IsIn(kFused, t)) edits.push_back(Replace(source, "arithmetic", i + 1, i + 1, "(- "));
  }
  return edits;
}

Edits ComparisonEdits(const CudaSource& source) {
  Edits edits;
  for (int i = 0; i < source.size(); ++i) {
    const CudaToken& token = source.tokens[i];
    if (!MayChange(token) || token.place == Place::kLoopTest || token.angle) continue;
    const std::string_view now = Find(kCompare, token.text);
    if (now.empty()) continue;
    const bool order = token.text[0] == '<' || token.text[0] == '>';
    if (order && IsChoiceOfOperands(source, i)) continue;
    edits.push_back(Replace(source, "comparison", i, i, std::string(now)));
  }
  return edits;
}

Edits ConstantEdits(const CudaSource& source) {
  Edits edits;
  for (int i = 0; i < source.size(); ++i) {
    if (!MayChange(source.tokens[i])) continue;
    const int lowest = LowestEnd(source, i);
    if (lowest >= 0) edits.push_back(Replace(source, "constant", i, lowest, "0.0f"));
    const bool number = source.IsNumber(i);
    if (number && IsInitial(source, i) && IsZero(source.At(i))) {
      edits.push_back(Replace(source, "constant", i, i, OneFor(source.At(i))));
    }
    const int offset = ShuffleOffset(source, i);
    const int halved = offset >= 0 ? offset : source.At(i - 1) == "&" ? i : -1;
    if (halved < 0 || !source.IsNumber(halved)) continue;
    const std::string now = Halved(source.At(halved));
    if (!now.empty()) edits.push_back(Replace(source, "constant", halved, halved, now));
  }
  return edits;
}

Edits OffByOneEdits(const CudaSource& source) {
  Edits edits;
  for (int i = 1; i < source.size(); ++i) {
    const bool operand = source.IsName(i - 1) || source.At(i - 1) == ")";
    const int close = source.tokens[i].partner;
    if (source.At(i) != "[" || !operand || !MayChange(source.tokens[i]) || close <= i + 1) continue;
    bool plain = true;  // "1 + " before a ?: or a list would mean something else
    for (int k = i + 1; k < close && plain; ++k) {
      plain = source.At(k) != "?" && source.At(k) != "," && close - i < 64;
    }
    if (plain) edits.push_back(Insert(source, "off-by-one", i + 1, "1 + "));
  }
  return edits;
}

}  // namespace kb
