#include "kb/front_matter.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "kb/lenient_yaml.h"

namespace kb {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

std::string_view TrimRight(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t");
  return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Goes through a text line by line; lines end as in SplitLines.
struct Cursor {
  std::string_view text;
  size_t at = 0;   // where the next line starts
  int number = 1;  // its number, 1-based

  [[nodiscard]] bool AtEnd() const { return at >= text.size(); }
  // The next line, without its end; stays there.
  [[nodiscard]] std::string_view Peek() const {
    size_t end = at;
    while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
    return text.substr(at, end - at);
  }
  void Skip(std::string_view line) {
    at += line.size();
    if (text.substr(at, 2) == "\r\n") ++at;
    if (at < text.size()) ++at;
    ++number;
  }
};

// Moves over blank lines and HTML comments; false if a comment is followed by text on
// its line or does not end.
bool SkipLeading(Cursor& cursor) {
  while (!cursor.AtEnd()) {
    const std::string_view line = cursor.Peek();
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) {
      cursor.Skip(line);
      continue;
    }
    if (line.substr(start, 4) != "<!--") return true;
    const size_t close = cursor.text.find("-->", cursor.at + start + 4);
    if (close == std::string_view::npos) return false;
    while (cursor.at + cursor.Peek().size() < close) cursor.Skip(cursor.Peek());
    const std::string_view last = cursor.Peek();
    if (!TrimRight(last.substr(close + 3 - cursor.at)).empty()) return false;
    cursor.Skip(last);
  }
  return false;
}

bool IsEndLine(std::string_view line) {
  const std::string_view trimmed = TrimRight(line);
  return trimmed == "---" || trimmed == "...";
}

// Moves to the line that ends the front matter; false: there is none.
bool FindEnd(Cursor& cursor) {
  while (!cursor.AtEnd()) {
    const std::string_view line = cursor.Peek();
    if (IsEndLine(line)) return true;
    cursor.Skip(line);
  }
  return false;
}

// Without a closing line: moves to the first line that cannot belong to the keys, a
// heading, a fence, or text after a blank line.
void FindProbableEnd(Cursor& cursor) {
  bool after_blank = false;
  while (!cursor.AtEnd()) {
    const std::string_view line = cursor.Peek();
    const bool indented = !line.empty() && (line[0] == ' ' || line[0] == '\t');
    const bool item = line.substr(0, 2) == "- ";
    const bool blank = TrimRight(line).empty();
    const bool belongs = indented || (item && !after_blank) || !YamlKeyOf(line).empty();
    if (!blank && !belongs) return;
    if (!blank && after_blank && !indented) return;
    after_blank = blank;
    cursor.Skip(line);
  }
}

// Whether a text that follows a "---" line can be front matter: its first line that is
// neither blank nor a comment is a key or a flow map. Else the line is a thematic break.
bool LooksLikeMap(std::string_view raw) {
  bool has_comment = false;
  for (Cursor cursor{raw}; !cursor.AtEnd(); cursor.Skip(cursor.Peek())) {
    const std::string_view line = cursor.Peek();
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) continue;
    has_comment = has_comment || line[start] == '#';
    if (line[start] == '#') continue;
    const std::string_view rest = line.substr(start);
    return rest[0] == '{' || rest[0] == '?' || rest[0] == '"' || rest[0] == '\'' ||
           !YamlKeyOf(rest).empty() || rest.find(": ") != std::string_view::npos ||
           TrimRight(rest).back() == ':';
  }
  return !has_comment;
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view path, Diagnostics* diagnostics)
      : text_(text), path_(path), diagnostics_(diagnostics) {}

  FrontMatter Run() {
    FrontMatter result;
    result.value = Value::Map();
    Cursor cursor{text_, text_.substr(0, kBom.size()) == kBom ? kBom.size() : 0};
    result.body = text_.substr(cursor.at);
    if (!SkipLeading(cursor) || TrimRight(cursor.Peek()) != "---") return result;
    const int open_line = cursor.number;
    cursor.Skip(cursor.Peek());
    const Cursor start = cursor;
    const bool terminated = FindEnd(cursor);
    if (!terminated) {
      cursor = start;
      FindProbableEnd(cursor);
    }
    const std::string_view raw = text_.substr(start.at, cursor.at - start.at);
    if (!LooksLikeMap(raw) || (!terminated && raw.empty()) || !ReadMap(raw, open_line, result)) {
      result.value = Value::Map();
      return result;
    }
    if (open_line > 1) {
      Report(Severity::kWarning, "front-matter-leading", open_line,
             "text stands before the front matter; other tools will not see it",
             "move comments and blank lines below the front matter");
    }
    if (terminated) {
      const std::string_view end_line = cursor.Peek();
      if (end_line != "---" && end_line != "...") {
        Report(Severity::kNote, "front-matter-end", cursor.number,
               "blanks follow the line that ends the front matter", "remove them");
      }
      cursor.Skip(end_line);
    } else {
      Report(Severity::kError, "front-matter-unterminated", open_line,
             "no line that is exactly --- ends the front matter; it is taken to end before line " +
                 std::to_string(cursor.number),
             "add a --- line after the last key");
    }
    result.present = true;
    result.raw = raw;
    result.body = text_.substr(std::min(cursor.at, text_.size()));
    result.body_line = cursor.number;
    return result;
  }

 private:
  // Fills result.value; false if `raw` holds no keys at all though it is not empty.
  bool ReadMap(std::string_view raw, int line_offset, FrontMatter& result) {
    LenientYaml yaml = ParseYamlLeniently(raw, line_offset);
    if (yaml.value.IsNull()) return true;
    if (!yaml.value.IsMap() || yaml.value.AsMap().empty()) {
      const bool flow = yaml.value.IsMap() && yaml.how == LenientYaml::How::kParsed;
      if (!flow) ReportNoMap(line_offset, yaml.value);
      return flow;
    }
    if (yaml.how != LenientYaml::How::kParsed) ReportRepair(yaml, line_offset);
    ReportDuplicates(yaml.value);
    result.value = std::move(yaml.value);
    return true;
  }

  void ReportNoMap(int line, const Value& value) {
    Report(Severity::kWarning, "front-matter-map", line,
           std::string("what stands between the --- lines is no map of keys to values (") +
               value.TypeName() + "); it is read as text",
           "write \"key: value\" lines, or start the text with something else than ---");
  }

  void ReportRepair(const LenientYaml& yaml, int line_offset) {
    const bool limit = yaml.error.over_limit;
    const char* how = yaml.how == LenientYaml::How::kQuoted ? "; read with such values quoted"
                                                            : "; read line by line";
    Report(Severity::kError, limit ? "front-matter-limit" : "front-matter-yaml",
           yaml.error.line + line_offset,
           (limit ? "over a limit: " : "not YAML: ") + yaml.error.message + how,
           limit ? "move long material into the body"
                 : "quote values that hold \": \", start with a special character or mix quotes");
  }

  void ReportDuplicates(const Value& map) {
    std::vector<std::pair<std::string_view, int>> keys;
    for (const auto& [key, value] : map.AsMap()) keys.emplace_back(key, value.line());
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 1; i < keys.size(); ++i) {
      if (keys[i].first != keys[i - 1].first || (i > 1 && keys[i].first == keys[i - 2].first)) {
        continue;  // one finding a key
      }
      Report(Severity::kWarning, "front-matter-duplicate", keys[i].second,
             "the key " + std::string(keys[i].first) + " stands more than once; the first counts",
             "remove the repeated key");
    }
  }

  void Report(Severity severity, const char* rule, int line, std::string message,
              const char* mend) {
    if (diagnostics_ == nullptr) return;
    diagnostics_->push_back({severity, rule, std::string(path_), line, std::move(message), mend});
  }

  std::string_view text_;
  std::string_view path_;
  Diagnostics* diagnostics_;
};

}  // namespace

FrontMatter ParseFrontMatter(std::string_view text, std::string_view path,
                             Diagnostics* diagnostics) {
  return Reader(text, path, diagnostics).Run();
}

}  // namespace kb
