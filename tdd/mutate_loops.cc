// Faults of loops: where they begin, how far they go, by which step; and how they add up.
#include <set>
#include <string>
#include <string_view>

#include "tdd/mutate_edits.h"

namespace kb {
namespace {

// The first token in [begin, end) with this text, brackets jumped over; -1.
int FindToken(const CudaSource& source, int begin, int end, std::string_view text) {
  for (int i = begin; i < end; ++i) {
    if (source.At(i) == text) return i;
    if (source.tokens[i].partner > i) i = source.tokens[i].partner;
  }
  return -1;
}

bool Has(const CudaSource& source, int begin, int end, std::string_view text) {
  return FindToken(source, begin, end, text) >= 0;
}

// offset >>= 1, offset /= 2: zero stays zero, so such a loop must still end at zero.
bool Halves(const CudaSource& source, const CudaLoop& loop) {
  return Has(source, loop.step_begin, loop.step_end, ">>=") ||
         Has(source, loop.step_begin, loop.step_end, "/=") ||
         Has(source, loop.step_begin, loop.step_end, ">>");
}

void AddInit(const CudaSource& source, const CudaLoop& loop, Edits* edits) {
  const int assign = FindToken(source, loop.init_begin, loop.init_end, "=");
  if (assign < 0 || assign + 1 >= loop.init_end || !source.tokens[assign].code) return;
  if (Halves(source, loop)) {
    edits->push_back(Insert(source, "loop-bound", loop.init_end, " / 2"));
  } else {
    edits->push_back(Insert(source, "loop-bound", assign + 1, "1 + "));
  }
}

void AddTest(const CudaSource& source, const CudaLoop& loop, Edits* edits) {
  for (std::string_view order : {"<", "<=", ">", ">="}) {
    const int i = FindToken(source, loop.test_begin, loop.test_end, order);
    if (i < 0 || i + 1 >= loop.test_end || source.tokens[i].angle || !source.tokens[i].code) {
      continue;
    }
    const bool up = order[0] == '<';
    edits->push_back(Insert(source, "loop-bound", i + 1, up ? "-1 + " : "1 + "));
    if (Halves(source, loop) || !loop.counted) continue;
    const char* other = order == "<" ? "<=" : order == "<=" ? "<" : order == ">" ? ">=" : ">";
    // "i >= 0" of an unsigned number always holds.
    const bool endless = order == ">" && source.At(i + 1) == "0";
    if (!endless) edits->push_back(Replace(source, "loop-bound", i, i, other));
  }
}

// Never dropped: such a loop would not end.
void AddStep(const CudaSource& source, const CudaLoop& loop, Edits* edits) {
  if (Has(source, loop.test_begin, loop.test_end, "!=")) return;  // would step over its end
  for (int i = loop.step_begin; i < loop.step_end; ++i) {
    const std::string_view t = source.At(i);
    if (!source.tokens[i].code) continue;
    if ((t == "+=" || t == "-=") && i + 1 < loop.step_end) {
      edits->push_back(Insert(source, "loop-bound", i + 1, "1 + "));
    } else if ((t == ">>=" || t == "<<=") && source.At(i + 1) == "1") {
      edits->push_back(Replace(source, "loop-bound", i + 1, i + 1, "2"));
    } else if ((t == "/=" || t == "*=") && source.At(i + 1) == "2") {
      edits->push_back(Replace(source, "loop-bound", i + 1, i + 1, "4"));
    } else if (t == "++" || t == "--") {
      const bool prefix = source.IsName(i + 1) && i + 1 < loop.step_end;
      const int name = prefix ? i + 1 : i - 1;
      if (name < loop.step_begin || !source.IsName(name)) continue;
      const std::string now = std::string(source.At(name)) + (t == "++" ? " += 2" : " -= 2");
      edits->push_back(Replace(source, "loop-bound", prefix ? i : i - 1, prefix ? i + 1 : i, now));
    }
  }
}

// Names declared with this type: "float a = 0, b[4];".
std::set<std::string_view> NamesOf(const CudaSource& source, std::string_view type) {
  std::set<std::string_view> names;
  for (int i = 0; i < source.size(); ++i) {
    if (source.At(i) != type || source.At(i + 1) == "*" || source.At(i - 1) == "(") continue;
    const int end = source.StatementEnd(i);
    for (int k = i + 1; k < end; ++k) {
      const std::string_view before = source.At(k - 1);
      if (source.IsName(k) && (before == type || before == ",")) names.insert(source.At(k));
      if (source.tokens[k].partner > k) k = source.tokens[k].partner;
    }
  }
  return names;
}

constexpr char kToBf16[] = "0x8000u) & 0xffff0000u)";  // to 8 bits, ties away from zero
constexpr char kToHalf[] = "0x1000u) & 0xffffe000u)";  // to 11 bits

// `a += b` and `a = fmaf(x, y, a)` as (lhs, value); value "" if it adds nothing up.
std::string Sum(const CudaSource& source, int first, int assign, int end) {
  const std::string lhs(source.Span(first, assign - 1));
  const std::string value(source.Span(assign + 1, end - 1));
  if (value.empty() || value.find("__shfl") != std::string::npos ||
      value.find('\n') != std::string::npos) {
    return "";
  }
  if (source.At(assign) == "+=") return lhs + " + (" + value + ")";
  const bool adds = value.find("fma") != std::string::npos || value.find('+') != std::string::npos;
  return adds && value.find(lhs) != std::string::npos && value.find("fmax") == std::string::npos
             ? value
             : "";
}

}  // namespace

Edits LoopEdits(const CudaSource& source) {
  Edits edits;
  for (const CudaLoop& loop : source.loops) {
    if (loop.counted) AddInit(source, loop, &edits);
    AddTest(source, loop, &edits);
    if (loop.counted) AddStep(source, loop, &edits);
  }
  return edits;
}

// In bits, so that no header is needed: the source may include none.
Edits AccumulatorEdits(const CudaSource& source) {
  Edits edits;
  const bool bf16 = source.text.find("bf") != std::string_view::npos;
  const std::set<std::string_view> floats = NamesOf(source, "float"),
                                   doubles = NamesOf(source, "double");
  for (int i = 0; i < source.size(); ++i) {
    const bool is_float = floats.contains(source.At(i));
    if (!source.tokens[i].code || source.tokens[i].loops == 0 || !source.BeginsStatement(i) ||
        (!is_float && !doubles.contains(source.At(i)))) {
      continue;
    }
    const int assign = OperandEnd(source, i) + 1, end = source.StatementEnd(i);
    if (end < 0 || (source.At(assign) != "+=" && source.At(assign) != "=")) continue;
    const std::string sum = Sum(source, i, assign, end);
    if (sum.empty()) continue;
    const std::string rounded =
        is_float ? "__uint_as_float((__float_as_uint(" + sum + ") + " + (bf16 ? kToBf16 : kToHalf)
                 : "static_cast<float>(" + sum + ")";
    edits.push_back(Replace(source, "narrowed-accumulator", assign, end - 1, "= " + rounded));
  }
  return edits;
}

}  // namespace kb
