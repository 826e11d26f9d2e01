#include "kb/journal_line.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace kb {
namespace {

constexpr size_t kMaxTextBytes = 500;  // of a guessed hypothesis or reason

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsAlnum(char c) { return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'z'); }

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view Trim(std::string_view text, const char* what = " \t*_`:.-") {
  const size_t begin = text.find_first_not_of(what);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(what) - begin + 1);
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// A number with what follows it, from `at` on.
struct Number {
  size_t begin = 0;
  size_t end = 0;  // after the unit
  double value = 0;
  std::string_view unit;  // "us", "x", ... or ""
};

std::optional<Number> NextNumber(std::string_view line, size_t at) {
  for (; at < line.size(); ++at) {
    if (!IsDigit(line[at]) ||
        (at > 0 && (IsAlnum(line[at - 1]) || line[at - 1] == '.' || line[at - 1] == '_'))) {
      continue;
    }
    Number number;
    number.begin = at;
    const char* const stop = line.data() + std::min(line.size(), at + 32);
    const auto [end, error] =
        std::from_chars(line.data() + at, stop, number.value, std::chars_format::fixed);
    if (error != std::errc()) continue;
    size_t after = static_cast<size_t>(end - line.data());
    if (after < line.size() && line[after] == ' ') ++after;
    size_t unit_end = after;
    while (unit_end < line.size() && unit_end - after < 16 &&
           (IsAlnum(line[unit_end]) || (line[unit_end] & 0x80) != 0)) {
      ++unit_end;
    }
    number.unit = line.substr(after, unit_end - after);
    number.end = std::max(unit_end, static_cast<size_t>(end - line.data()));
    return number;
  }
  return std::nullopt;
}

// "41.2 us -> 12.9 us", "33 us (baseline 41.2 us)", "1.25x faster".
void ReadNumbers(std::string_view line, const std::string& lower, Attempt& attempt) {
  if (ContainsAny(lower, {"compile", "build", "target", "goal"})) return;
  const bool about_speed = ContainsAny(lower, {"speedup", "speed-up", "faster", "slower"});
  size_t last = 0;  // where the number before ends
  std::optional<double> earlier;
  for (std::optional<Number> n = NextNumber(line, 0); n; n = NextNumber(line, n->end)) {
    const std::string_view between = std::string_view(lower).substr(last, n->begin - last);
    last = n->end;
    const bool times = n->unit == "x" || n->unit == "X" || n->unit == "\xC3\x97";
    const bool stated = between.size() < 40 && ContainsAny(between, {"speedup", "speed-up"});
    if ((times && about_speed) || (n->unit.empty() && stated)) {
      if (!attempt.speedup) attempt.speedup = n->value;
      continue;
    }
    const std::optional<double> us =
        n->unit == "s" ? std::nullopt : ToMicroseconds(n->value, n->unit);
    if (!us) continue;
    const bool arrow = ContainsAny(between, {"->", "\xE2\x86\x92", " to "});
    if (arrow && earlier && attempt.median_us == earlier && !attempt.baseline_us) {
      attempt.baseline_us = earlier;
      attempt.median_us = us;
    } else if (ContainsAny(between, {"baseline", "reference", "before", "was ", "vs"})) {
      if (!attempt.baseline_us) attempt.baseline_us = us;
    } else if (!attempt.median_us) {
      attempt.median_us = us;
    }
    earlier = us;
  }
}

std::string StatusIn(const std::string& lower) {
  if (ContainsAny(lower, {"compile error", "compile_error", "compilation failed",
                          "failed to compile", "does not compile"})) {
    return "COMPILE_ERROR";
  }
  if (ContainsAny(lower, {"incorrect", "mismatch", "wrong result"})) return "INCORRECT_NUMERICAL";
  if (ContainsAny(lower, {"fail", "crash", "\xE2\x9D\x8C"})) return "FAILED";
  if (ContainsAny(lower, {"pass", "correct", "\xE2\x9C\x85"})) return "PASSED";
  return "";
}

// `stated`: the text is said to be a decision; else only a past tense is taken for one.
std::string DecisionIn(std::string_view lower, bool stated) {
  constexpr struct {
    std::string_view word, past, decision;
  } kWords[] = {{"revert", "reverted", "revert"},   {"roll", "rolled back", "revert"},
                {"discard", "discarded", "revert"}, {"abandon", "abandoned", "abandon"},
                {"park", "parked", "park"},         {"branch", "branched off", "branch"},
                {"keep", "kept", "keep"},           {"kept", "kept", "keep"}};
  for (const auto& w : kWords) {
    if (lower.find(stated ? w.word : w.past) != std::string::npos) return std::string(w.decision);
  }
  return "";
}

// The unit that a column's title names: "Time (us)", "latency [ms]"; or "".
std::string_view UnitOf(std::string_view title) {
  const size_t open = title.find_last_of("([_ ");
  if (open == std::string_view::npos) return {};
  const std::string_view unit = Trim(title.substr(open), " ()[]_");
  return ToMicroseconds(1, unit) ? unit : std::string_view();
}

}  // namespace

std::string Lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

void SetOnce(std::string& field, std::string_view text) {
  if (!field.empty()) return;
  size_t end = std::min(text.size(), kMaxTextBytes);
  while (end > 0 && end < text.size() && (text[end] & 0xC0) == 0x80) --end;
  field = text.substr(0, end);
}

AttemptMark ReadAttemptMark(std::string_view line) {
  line = line.substr(std::min(line.find_first_not_of(" \t#*_->+"), line.size()));
  const std::string lower = Lowered(line.substr(0, 16));
  for (const std::string_view word : {"attempt", "iteration", "round", "experiment", "version"}) {
    if (!StartsWith(lower, word)) continue;
    size_t at = line.find_first_not_of(" \t#_", word.size());
    if (at == std::string_view::npos) return {};
    const size_t start = at;
    if (!IsDigit(line[at])) ++at;  // "A1"
    if (at >= line.size() || !IsDigit(line[at]) || !IsAlnum(line[start])) return {};
    while (at < line.size() && at - start < 16 && IsAlnum(line[at])) ++at;
    std::string id(line.substr(start, at - start));
    return {IsDigit(id[0]) ? "A" + id : id, Trim(line.substr(at), " \t*_:.-)")};
  }
  return {};
}

void ReadJournalLine(std::string_view line, Attempt& attempt) {
  const std::string lower = Lowered(line);
  ReadNumbers(line, lower, attempt);
  const size_t colon = line.substr(0, 64).find(':');
  const std::string_view label =
      Trim(std::string_view(lower).substr(0, colon == std::string::npos ? 0 : colon));
  const std::string_view value =
      Trim(line.substr(colon == std::string::npos ? 0 : colon + 1), " \t*_");
  if (ContainsAny(label, {"hypothesis", "idea", "change"})) SetOnce(attempt.hypothesis, value);
  if (ContainsAny(label, {"why", "reason", "analysis", "conclusion"})) SetOnce(attempt.why, value);
  if (StartsWith(label, "parent") || StartsWith(label, "based on")) {
    const std::string text = "attempt " + std::string(value);
    const AttemptMark mark = ReadAttemptMark(value);
    SetOnce(attempt.parent, mark.id.empty() ? ReadAttemptMark(text).id : mark.id);
  }
  if (StartsWith(label, "decision")) {
    attempt.decision = DecisionIn(std::string_view(lower).substr(colon + 1), true);
  } else {
    SetOnce(attempt.decision, DecisionIn(lower, false));
  }
  if (ContainsAny(label, {"status", "correct", "test"})) {
    if (std::string status = StatusIn(lower.substr(colon + 1)); !status.empty()) {
      attempt.status = std::move(status);
    }
  } else {
    SetOnce(attempt.status, StatusIn(lower));
  }
}

void ReadJournalCell(std::string_view title, std::string_view cell, Attempt& attempt) {
  const std::string lower = Lowered(cell);
  const std::optional<Number> number = NextNumber(cell, 0);
  const std::string_view unit =
      number && ToMicroseconds(1, number->unit) ? number->unit : UnitOf(title);
  if (ContainsAny(title, {"speedup", "speed-up"})) {
    if (number && !attempt.speedup) attempt.speedup = number->value;
  } else if (ContainsAny(title, {"baseline"})) {
    if (number && !attempt.baseline_us) attempt.baseline_us = ToMicroseconds(number->value, unit);
  } else if (ContainsAny(title, {"time", "latency", "median", "runtime"}) ||
             !UnitOf(title).empty()) {
    if (number && !attempt.median_us) attempt.median_us = ToMicroseconds(number->value, unit);
  } else if (ContainsAny(title, {"status", "correct", "test", "pass"})) {
    SetOnce(attempt.status, StatusIn(lower));
  } else if (ContainsAny(title, {"decision", "kept"})) {
    SetOnce(attempt.decision, DecisionIn(lower, true));
  } else if (ContainsAny(title, {"change", "idea", "hypothesis", "what", "description"})) {
    SetOnce(attempt.hypothesis, cell);
  } else if (ContainsAny(title, {"why", "note", "comment", "result"})) {
    SetOnce(attempt.why, cell);
  }
}

}  // namespace kb
