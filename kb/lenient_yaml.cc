#include "kb/lenient_yaml.h"

#include <algorithm>
#include <vector>

#include "kb/markdown.h"

namespace kb {
namespace {

// A strict parse of one value costs microseconds; a hostile text has 100,000 lines.
constexpr int kMaxProbes = 2000;
constexpr size_t kMaxKeyBytes = 128;

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

size_t IndentOf(std::string_view line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

// "|", ">-", "|2": the lines that follow, more indented, are text.
bool IsBlockScalarMark(std::string_view value) {
  return !value.empty() && (value[0] == '|' || value[0] == '>') &&
         value.find_first_not_of("+-123456789", 1) == std::string_view::npos;
}

std::string SingleQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

std::string_view Unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Where the value of a line starts: after "key: ", "- " or "- key: "; npos: no such line.
// `*column`: where the key stands, which decides what lines belong to it.
struct ValuePlace {
  size_t start = std::string_view::npos;
  size_t column = 0;
};

ValuePlace FindValue(std::string_view line) {
  ValuePlace place;
  place.column = IndentOf(line);
  while (line.substr(place.column, 2) == "- ") {
    place.column += 2 + IndentOf(line.substr(place.column + 2));
    place.start = place.column;
  }
  const std::string_view key = YamlKeyOf(line.substr(place.column));
  if (!key.empty()) place.start = line.find(':', key.data() + key.size() - line.data()) + 1;
  return place;
}

// The line (1-based) of a top-level value whose opening quote is closed nowhere after it; 0: none.
// yaml-cpp takes the rest of the text for its value and reports nothing.
int FindUnclosedQuote(std::string_view text) {
  const std::vector<std::string_view> lines = SplitLines(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (YamlKeyOf(lines[i]).empty()) continue;
    const std::string_view value = Trim(lines[i].substr(lines[i].find(':') + 1));
    if (value.empty() || (value[0] != '"' && value[0] != '\'')) continue;
    const size_t after = static_cast<size_t>(value.data() - text.data()) + 1;
    if (text.find(value[0], after) == text.npos) return static_cast<int>(i) + 1;
  }
  return 0;
}

// The text with each single-line value that is no YAML by itself in quotes, and tabs of
// the indentation as blanks.
class Quoter {
 public:
  explicit Quoter(std::string_view text) : lines_(SplitLines(text)) {}

  std::string Run() {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const size_t indent = IndentOf(lines_[i]);
      for (const char c : lines_[i].substr(0, indent)) out_ += c == '\t' ? "  " : " ";
      AddLine(i);
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  void AddLine(size_t i) {
    const std::string_view line = lines_[i];
    const size_t indent = IndentOf(line);
    const bool blank = indent == line.size();
    if (in_block_ && !blank && indent <= block_column_) in_block_ = false;
    const ValuePlace place = FindValue(line);
    if (in_block_ || blank || place.start == std::string_view::npos) {
      out_ += line.substr(indent);
      return;
    }
    const std::string_view value = Trim(line.substr(place.start));
    in_block_ = IsBlockScalarMark(value);
    block_column_ = place.column;
    const bool goes_on = i + 1 < lines_.size() && !Trim(lines_[i + 1]).empty() &&
                         IndentOf(lines_[i + 1]) > place.column;
    if (value.empty() || goes_on || ++probes_ > kMaxProbes ||
        ParseYaml("k: " + std::string(value), 0, nullptr)) {
      out_ += line.substr(indent);
    } else {
      out_ += Trim(line.substr(indent, place.start - indent));
      out_ += " " + SingleQuoted(value);
    }
  }

  std::vector<std::string_view> lines_;
  std::string out_;
  bool in_block_ = false;
  size_t block_column_ = 0;
  int probes_ = 0;
};

// Lines [begin, end) as one value: what follows the key, folded.
std::string FoldedText(const std::vector<std::string_view>& lines, size_t begin, size_t end) {
  const std::string_view first = Trim(lines[begin].substr(FindValue(lines[begin]).start));
  std::string text(IsBlockScalarMark(first) ? std::string_view() : first);
  for (size_t i = begin + 1; i < end; ++i) {
    const std::string_view more = Trim(lines[i]);
    if (!more.empty() && !text.empty()) text += ' ';
    text += more;
  }
  return std::string(Unquoted(text));
}

Value ScanKeys(std::string_view text, int line_offset, bool nested) {
  const YamlLimits limits;
  const std::vector<std::string_view> lines = SplitLines(text.substr(0, limits.max_bytes));
  Value::Map map;
  for (size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    end = begin + 1;
    const std::string_view key = YamlKeyOf(lines[begin]);
    if (key.empty()) continue;
    if (static_cast<int>(map.size()) >= limits.max_nodes) break;
    while (end < lines.size() && YamlKeyOf(lines[end]).empty()) ++end;
    const std::string_view part(
        lines[begin].data(), lines[end - 1].data() + lines[end - 1].size() - lines[begin].data());
    const int line = static_cast<int>(begin) + line_offset;
    std::optional<Value> value;
    if (nested && static_cast<int>(map.size()) < kMaxProbes) value = ParseYaml(part, line, nullptr);
    if (value && value->AsMap().size() == 1) {
      map.push_back(value->AsMap()[0]);
      continue;
    }
    map.emplace_back(std::string(key), FoldedText(lines, begin, end));
    map.back().second.set_line(line + 1);
  }
  return map;
}

}  // namespace

std::string_view YamlKeyOf(std::string_view line) {
  size_t end = line.substr(0, kMaxKeyBytes).find(':');
  if (end == std::string_view::npos) return {};
  if (end + 1 < line.size() && line[end + 1] != ' ' && line[end + 1] != '\t') return {};
  const std::string_view key = Unquoted(line.substr(0, end));
  const bool plain = std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  return plain && !key.empty() && key[0] != '-' ? key : std::string_view();
}

LenientYaml ParseYamlLeniently(std::string_view text, int line_offset) {
  LenientYaml result;
  const int unclosed = FindUnclosedQuote(text);
  if (unclosed > 0) {
    result.error = {unclosed, "a quote is not closed"};
  } else if (std::optional<Value> value = ParseYaml(text, line_offset, &result.error)) {
    result.value = std::move(*value);
    return result;
  }
  if (!result.error.over_limit) {
    YamlLimits limits;
    limits.max_bytes *= 2;  // quotes and blanks for tabs take room
    if (std::optional<Value> value = ParseYaml(Quoter(text).Run(), line_offset, nullptr, limits)) {
      result.how = LenientYaml::How::kQuoted;
      result.value = std::move(*value);
      return result;
    }
  }
  result.how = LenientYaml::How::kScanned;
  result.value = ScanKeys(text, line_offset, !result.error.over_limit);
  return result;
}

}  // namespace kb
