// A document prepared for scanning, and the small questions that all rules ask.
#include <string.h>

#include <algorithm>

#include "kb/lint_internal.h"

namespace kb {

LintSource::LintSource(const Document& d)
    : document(d), text(d.text), lower(Lower(d.text)), lines(SplitLines(d.text)) {
  code.resize(lines.size());
  for (const Block& block : d.blocks) {
    if (block.type != BlockType::kCode) continue;
    const int first = std::max(1, block.first_line + d.body_line - 1);
    const int last = std::min(block.last_line + d.body_line - 1, static_cast<int>(lines.size()));
    for (int line = first; line <= last; ++line) code[static_cast<size_t>(line - 1)] = true;
  }
}

int LintSource::LineAt(size_t offset) const {
  const char* at = text.data() + offset;
  const auto next = std::upper_bound(
      lines.begin(), lines.end(), at,
      [](const char* where, std::string_view line) { return where < line.data(); });
  return std::max(1, static_cast<int>(next - lines.begin()));
}

std::string_view LintSource::Line(int line) const {
  const bool exists = line >= 1 && line <= static_cast<int>(lines.size());
  return exists ? lines[static_cast<size_t>(line - 1)] : std::string_view{};
}

size_t LintSource::LineBegin(int line) const {
  const std::string_view view = Line(line);
  return view.data() == nullptr ? 0 : static_cast<size_t>(view.data() - text.data());
}

size_t LintSource::LineEnd(int line) const { return LineBegin(line) + Line(line).size(); }

bool LintSource::InCode(int line) const {
  return line >= 1 && line <= static_cast<int>(code.size()) && code[static_cast<size_t>(line - 1)];
}

bool LintSource::InInlineCode(size_t offset) const {
  constexpr size_t kWindow = 1024;  // bounds the time on files of one long line
  const size_t begin = std::max(LineBegin(LineAt(offset)), offset < kWindow ? 0 : offset - kWindow);
  const std::string_view before = text.substr(begin, offset - begin);
  return std::count(before.begin(), before.end(), '`') % 2 == 1;
}

size_t Find(std::string_view text, std::string_view needle, size_t from) {
  if (from >= text.size()) return std::string_view::npos;  // memmem wants no null
  const void* found = memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMax = 60;
  // Redacted before it is cut: half a secret no longer looks like one.
  const std::string whole = RedactSecrets(text.substr(0, 4096));
  std::string shown = whole.substr(0, kMax);
  while (!shown.empty() && shown.size() < whole.size() &&
         (static_cast<unsigned char>(whole[shown.size()]) & 0xC0) == 0x80) {
    shown.pop_back();  // never half a character
  }
  return '"' + shown + (shown.size() < whole.size() ? "...\"" : "\"");
}

std::vector<std::string> SplitNames(std::string_view text) {
  static constexpr std::string_view kGaps = " ,;\t\r\n";
  std::vector<std::string> names;
  for (size_t at = text.find_first_not_of(kGaps); at != std::string_view::npos;) {
    const size_t end = std::min(text.size(), text.find_first_of(kGaps, at));
    names.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(kGaps, end);
  }
  return names;
}

bool IsSafeName(std::string_view name) {
  if (name.empty() || name.size() > 128 || !IsAlnum(name.front())) return false;
  if (name.find("..") != std::string_view::npos) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlnum(c) || c == '.' || c == '_' || c == '-'; });
}

bool IsSha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'f');
         });
}

bool IsTimestamp(std::string_view text) {
  // 9: a digit; other characters: themselves.
  auto matches = [](std::string_view value, std::string_view pattern) {
    if (value.size() != pattern.size()) return false;
    for (size_t i = 0; i < value.size(); ++i) {
      if (pattern[i] == '9' ? !IsDigit(value[i]) : value[i] != pattern[i]) return false;
    }
    return true;
  };
  auto number = [&](size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  if (!matches(text.substr(0, 10), "9999-99-99")) return false;
  if (number(5) < 1 || number(5) > 12 || number(8) < 1 || number(8) > 31) return false;
  if (text.size() == 10) return true;
  const std::string time = Lower(text.substr(10));
  if (!matches(std::string_view(time).substr(0, 9), "t99:99:99") || number(11) > 23 ||
      number(14) > 59 || number(17) > 60) {
    return false;
  }
  std::string_view zone = std::string_view(time).substr(9);
  if (zone.starts_with('.')) {
    zone.remove_prefix(std::min(zone.size(), zone.find_first_not_of("0123456789", 1)));
  }
  return zone == "z" || matches(zone, "+99:99") || matches(zone, "-99:99");
}

int KeyLine(const Document& document, std::string_view key) {
  return std::max(1, document.front_matter[key].line());
}

}  // namespace kb
