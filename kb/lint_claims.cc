// Numbers about speed: what they look like, and whether they are proved.
#include <algorithm>
#include <optional>

#include "kb/lint_internal.h"

namespace kb {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kWindow = 48;  // bytes around a ratio in which it must say "faster"

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Over one or two blanks, a no-break space, a closing '*' or '`', a '-' as in "45-us".
size_t SkipGap(std::string_view text, size_t at) {
  for (int i = 0; i < 3 && at < text.size(); ++i) {
    if (IsBlank(text[at]) || text[at] == '*' || text[at] == '`' || text[at] == '-') {
      ++at;
    } else if (text.substr(at, 2) == "\xC2\xA0" || text.substr(at, 3) == "\xE2\x80\xAF") {
      at += text[at] == '\xC2' ? 2 : 3;
    }
  }
  return at;
}

bool EndsWord(std::string_view text, size_t at) {
  return at >= text.size() || (!IsAlnum(text[at]) && text[at] != '_');
}

template <size_t N>
size_t MatchAny(std::string_view text, size_t at, const std::string_view (&words)[N]) {
  for (std::string_view word : words) {
    if (text.substr(at, word.size()) == word && EndsWord(text, at + word.size()))
      return word.size();
  }
  return 0;
}

// Units are matched as written: "ms" and "MS", "GB/s" and "gb/s" differ in kind.
constexpr std::string_view kRates[] = {"GB/s",       "TB/s",
                                       "MB/s",       "KB/s",
                                       "kB/s",       "GiB/s",
                                       "TiB/s",      "MiB/s",
                                       "GB/sec",     "TB/sec",
                                       "GBps",       "TBps",
                                       "GBPS",       "GFLOP/s",
                                       "TFLOP/s",    "PFLOP/s",
                                       "GFLOPs",     "TFLOPs",
                                       "PFLOPs",     "GFLOPS",
                                       "TFLOPS",     "PFLOPS",
                                       "GFLOPs/s",   "TFLOPs/s",
                                       "TFLOPS/s",   "Gflop/s",
                                       "Tflop/s",    "TOPS",
                                       "TOP/s",      "GUPS",
                                       "tokens/s",   "tok/s",
                                       "tokens/sec", "tokens per second",
                                       "samples/s",  "elements/s",
                                       "Gelem/s",    "iterations/s",
                                       "it/s",       "TFLOP",
                                       "TFLOP/sec"};
constexpr std::string_view kTimes[] = {
    "us",         "\xC2\xB5s",    "\xCE\xBCs",   "ns",           "ms",          "usec",
    "msec",       "microseconds", "microsecond", "milliseconds", "millisecond", "nanoseconds",
    "nanosecond", "cycles",       "cycle",       "clock cycles", "clocks"};
// Lower case; looked for around a ratio or percentage.
constexpr std::string_view kSpeedWords[] = {
    "faster",          "slower",     "speedup",          "speed-up",
    "speed up",        "speeds up",  "sped up",          "quicker",
    "throughput",      "of peak",    "of the peak",      "of roofline",
    "of the roofline", "of sol",     "speed of light",   "of cublas",
    "of cudnn",        "less time",  "lower latency",    "higher bandwidth",
    "of bandwidth",    "outperform", "improvement over", "performance improvement"};

// The same sentence around [begin, end), lower case.
std::string Around(std::string_view text, size_t begin, size_t end) {
  size_t from = begin < kWindow ? 0 : begin - kWindow;
  size_t to = std::min(text.size(), end + kWindow);
  for (size_t i = begin; i > from; --i) {
    if (text[i - 1] == '\n' && i >= 2 && text[i - 2] == '\n') from = i;
    if (IsBlank(text[i - 1]) && i >= 2 && (text[i - 2] == '.' || text[i - 2] == ';')) from = i;
    if (text[i - 1] == '|') from = i;
  }
  for (size_t i = end; i + 1 < to; ++i) {
    const bool stop = (text[i] == '.' || text[i] == ';') && IsBlank(text[i + 1]);
    if (stop || text[i] == '|' || (text[i] == '\n' && text[i + 1] == '\n')) to = i;
  }
  return Lower(text.substr(from, to - from));
}

bool SaysSpeed(std::string_view text, size_t begin, size_t end) {
  const std::string around = Around(text, begin, end);
  return std::any_of(std::begin(kSpeedWords), std::end(kSpeedWords),
                     [&](std::string_view word) { return around.find(word) != std::string::npos; });
}

// The end of the number that begins at `at`: digits with '.', ',' between them.
size_t NumberEnd(std::string_view text, size_t at) {
  while (at < text.size() &&
         (IsDigit(text[at]) || ((text[at] == '.' || text[at] == ',') && at + 1 < text.size() &&
                                IsDigit(text[at + 1])))) {
    ++at;
  }
  return at;
}

struct Match {
  Claim::Type type;
  size_t end;
};

std::optional<Match> MatchUnit(std::string_view text, size_t begin, size_t number_end) {
  const size_t at = SkipGap(text, number_end);
  if (const size_t size = MatchAny(text, at, kRates)) return Match{Claim::Type::kRate, at + size};
  if (const size_t size = MatchAny(text, at, kTimes)) return Match{Claim::Type::kTime, at + size};
  static constexpr std::string_view kFactors[] = {"x", "X", "times"};
  size_t ratio = MatchAny(text, at, kFactors);
  if (text.substr(at, 2) == "\xC3\x97") ratio = 2;  // the multiplication sign
  if (at < text.size() && text[at] == '%') ratio = 1;
  if (text.substr(at, 7) == "percent") ratio = 7;
  if (ratio > 0 && SaysSpeed(text, begin, at + ratio))
    return Match{Claim::Type::kRatio, at + ratio};
  return std::nullopt;
}

// ---- paragraphs ----

// Lines [first, last] that one citation covers: a paragraph, a list item, a table, a heading,
// a code block with the paragraph before it.
struct Unit {
  int first = 0, last = 0;
  bool code = false;
};

bool StartsItem(std::string_view line) {
  line = Trim(line);
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) return true;
  size_t i = 0;
  while (i < line.size() && i < 9 && IsDigit(line[i])) ++i;
  return i > 0 && i + 1 < line.size() && (line[i] == '.' || line[i] == ')') && line[i + 1] == ' ';
}

std::vector<Unit> Units(const LintSource& source) {
  std::vector<Unit> units;
  bool open = false;
  for (int line = source.document.body_line; line <= static_cast<int>(source.lines.size());
       ++line) {
    const std::string_view text = Trim(source.Line(line));
    const bool code = source.InCode(line);
    if (!code && text.empty()) {
      open = false;
      continue;
    }
    const bool heading = !code && text.starts_with('#');
    const bool same = open && units.back().code == code && !heading && (code || !StartsItem(text));
    if (same) {
      units.back().last = line;
    } else {
      units.push_back({line, line, code});
    }
    open = !heading;
  }
  return units;
}

bool NamesHardware(std::string_view lower) {
  static constexpr std::string_view kNames[] = {
      "h100",     "h200",   "h20",        "gh200",     "a100",   "a10",   "a30",   "a40",
      "b100",     "b200",   "b300",       "gb200",     "gb300",  "v100",  "p100",  "t4",
      "l4",       "l40",    "rtx",        "gtx",       "sm_",    "sm7",   "sm8",   "sm9",
      "sm10",     "sm12",   "hopper",     "blackwell", "ampere", "ada ",  "volta", "turing",
      "orin",     "thor",   "xavier",     "jetson",    "dgx",    "mi250", "mi300", "bluefield",
      "connectx", "nvlink", "infiniband", "pcie",      "grace",  "spark"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) {
    const size_t at = Find(lower, name);
    return at != kNone && (at == 0 || !IsAlnum(lower[at - 1]));
  });
}

class ClaimCheck {
 public:
  ClaimCheck(const LintSource& source, const LintContext& context, LintReport& report)
      : source_(source), report_(report), ours_(context.strict_claims) {
    for (const auto& [key, value] : source.document.front_matter["metadata"].AsMap()) {
      ours_ = ours_ || key.starts_with("kb-");
    }
  }

  void Run() {
    const Document& document = source_.document;
    if (ours_ && document.front_matter["metadata"]["kb-evidence"].ToText().empty()) {
      CheckText(document.front_matter["description"].ToText(), KeyLine(document, "description"));
    }
    const std::vector<Unit> units = Units(source_);
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i].code && !ours_) continue;
      const bool joined = units[i].code && i > 0 && !units[i - 1].code;
      CheckText(Text(units[i]), 0, joined ? Text(units[i - 1]) : std::string_view{});
    }
  }

 private:
  std::string_view Text(const Unit& unit) const {
    const size_t begin = source_.LineBegin(unit.first);
    return source_.text.substr(begin, source_.LineEnd(unit.last) - begin);
  }

  // `line`: of all of `text`; 0: `text` is a part of the file. `before`: the paragraph whose
  // citations count as well.
  void CheckText(std::string_view text, int line, std::string_view before = {}) {
    const std::vector<Claim> claims = FindClaims(text);
    if (claims.empty()) return;
    if (!FindCitations(text).empty() || !FindCitations(before).empty()) return;
    if (!ours_ && NamesHardware(Lower(text))) return;
    for (const Claim& claim : claims) {
      if (line > 0) {
        Add(claim, line);
      } else {
        const size_t at = static_cast<size_t>(text.data() - source_.text.data()) + claim.offset;
        Add(claim, source_.LineAt(at));
      }
    }
  }

  void Add(const Claim& claim, int line) {
    if (ours_) {
      report_.Add("skill-unproved-number", line,
                  Quoted(claim.text) + " has no [nnk:<id>] in its paragraph");
    } else if (claim.type != Claim::Type::kTime) {
      report_.Add("claim-without-hardware", line,
                  Quoted(claim.text) + " says neither on which GPU nor what proves it");
    }
  }

  const LintSource& source_;
  LintReport& report_;
  bool ours_;
};

void CheckCited(const std::string& id, int line, const LintContext& context, LintReport& report) {
  const std::string state = context.entry_state(id);
  if (state.empty()) {
    report.Add("cite-missing", line, "there is no entry " + Quoted(id));
  } else if (state == "stale" || state == "refuted") {
    report.Add("cite-stale", line, "the entry " + Quoted(id) + " is " + state);
  }
}

}  // namespace

std::vector<Claim> FindClaims(std::string_view text) {
  std::vector<Claim> claims;
  for (size_t i = 0; i < text.size();) {
    if (!IsDigit(text[i])) {
      ++i;
      continue;
    }
    const size_t end = NumberEnd(text, i);
    const char before = i == 0 ? ' ' : text[i - 1];
    // "sm_90", "v2", "0x10", ".5" and "1-2" are no numbers of their own; "~2", "(2", "-2" are.
    const bool number = !IsAlnum(before) && before != '_' && before != '.' && before != '/';
    const std::optional<Match> match = number ? MatchUnit(text, i, end) : std::nullopt;
    if (match) {
      claims.push_back({match->type, std::string(text.substr(i, match->end - i)), i});
    }
    i = match ? match->end : end;
  }
  return claims;
}

std::vector<std::string> FindCitations(std::string_view text) {
  static constexpr std::string_view kOpen = "[nnk:";
  std::vector<std::string> ids;
  for (size_t at = Find(text, kOpen); at != kNone; at = Find(text, kOpen, at + kOpen.size())) {
    std::string_view id = text.substr(at + kOpen.size(), 160);
    const size_t close = id.find(']');
    if (close == kNone) continue;
    id = id.substr(0, std::min(close, id.find('@')));
    if (IsSafeName(id)) ids.emplace_back(id);
  }
  return ids;
}

void LintClaims(const LintSource& source, const LintContext& context, LintReport& report) {
  ClaimCheck(source, context, report).Run();
  if (!context.entry_state) return;
  for (size_t at = Find(source.text, "[nnk:"); at != kNone;
       at = Find(source.text, "[nnk:", at + 5)) {
    const std::vector<std::string> ids = FindCitations(source.text.substr(at, 166));
    if (!ids.empty()) CheckCited(ids.front(), source.LineAt(at), context, report);
  }
  const Value& metadata = source.document.front_matter["metadata"];
  for (const std::string& id : SplitNames(metadata["kb-evidence"].ToText())) {
    CheckCited(id, std::max(1, metadata["kb-evidence"].line()), context, report);
  }
}

}  // namespace kb
