#include "tdd/spec_reader.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "kb/file.h"
#include "kb/yaml.h"

namespace kb {
namespace {

constexpr size_t kMaxDiagnostics = 100;  // of one file: more help nobody

// Letters to insert, drop, change or swap with the next one (optimal string alignment).
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string ListOf(const std::vector<std::string>& words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " and " : ", ";
    list += words[i];
  }
  return list;
}

std::string NearestOf(std::string_view word, const std::vector<std::string>& known) {
  if (word.empty() || word.size() > 64) return "";
  size_t best = std::max<size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance >= best || distance >= candidate.size()) continue;
    best = distance;
    found = candidate;
  }
  return found;
}

std::string Shown(std::string_view text) {
  const bool whole = text.size() <= 60;
  return "'" + Printable(text.substr(0, 60)) + (whole ? "'" : "...'");
}

void SpecReader::Add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++errors_;
  if (diagnostics_.size() < kMaxDiagnostics) diagnostics_.push_back(std::move(diagnostic));
}

void SpecReader::Error(int line, std::string message, std::string mend) {
  ErrorIn(path_, line, std::move(message), std::move(mend));
}

void SpecReader::ErrorIn(const std::string& path, int line, std::string message, std::string mend) {
  Add({Severity::kError, rule_, path, line, std::move(message), std::move(mend)});
}

void SpecReader::Warn(int line, std::string message, std::string mend) {
  Add({Severity::kWarning, rule_, path_, line, std::move(message), std::move(mend)});
}

Value SpecReader::Read(std::string_view text, std::string_view header) {
  const std::string says(header);
  YamlError error;
  std::optional<Value> value = ParseYaml(text, 0, &error);
  if (!value) {
    Error(error.line, "not YAML that can be read: " + Printable(error.message),
          "mend the line; expressions with ', ' or ': ' in them want quotes");
    return {};
  }
  top_line_ = std::max(1, value->line());
  if (!value->IsMap()) {
    Error(top_line_, "a " + std::string(value->TypeName()) + ", not a map of keys",
          "begin with 'kb: " + says + "'");
    return {};
  }
  const Value& kb = (*value)["kb"];
  if (kb.AsString() != header) {
    Error(kb.IsNull() ? top_line_ : kb.line(),
          kb.IsNull() ? "no 'kb' key: it says which format this is"
                      : "kb says " + Shown(kb.ToText()) + ", a format that this kb cannot read",
          "write 'kb: " + says + "'");
  }
  return std::move(*value);
}

bool SpecReader::CheckKeys(const Value& map, const std::string& what,
                           std::initializer_list<std::string_view> known) {
  if (!map.IsMap()) {
    Error(map.line(), what + " is a " + map.TypeName() + ", not a map of keys",
          "write it as {key: value, ...}");
    return false;
  }
  const std::vector<std::string> words(known.begin(), known.end());
  std::set<std::string, std::less<>> seen;
  for (const auto& [key, value] : map.AsMap()) {
    if (!seen.insert(key).second) {
      Error(value.line(), what + " has the key " + Shown(key) + " twice", "leave one of them out");
    } else if (std::find(words.begin(), words.end(), key) == words.end()) {
      const std::string nearest = NearestOf(key, words);
      Error(value.line(), what + " has no key " + Shown(key),
            nearest.empty() ? "the keys are " + ListOf(words) : "did you mean '" + nearest + "'?");
    }
  }
  return true;
}

bool SpecReader::CheckNames(const Value& map, const std::string& what, size_t limit) {
  if (map.IsNull()) return false;
  if (!map.IsMap()) {
    Error(map.line(), what + " is a " + map.TypeName() + ", not a map from names",
          "write 'name: value' lines below it");
    return false;
  }
  if (map.AsMap().size() > limit) {
    Error(map.line(), what + " has more than " + std::to_string(limit) + " entries",
          "leave out what is not needed");
    return false;
  }
  std::set<std::string, std::less<>> seen;
  for (const auto& [name, value] : map.AsMap()) {
    const bool first = seen.insert(name).second;
    if (!IsSpecName(name)) {
      Error(value.line(), what + ": " + Shown(name) + " cannot be a name",
            "a letter, then letters, digits and _, at most 64; min, max, ceil_div, align and log2 "
            "are taken");
    } else if (!first) {
      Error(value.line(), what + " has the name " + Shown(name) + " twice",
            "leave one of them out");
    }
  }
  return true;
}

std::optional<std::string> SpecReader::Text(const Value& map, std::string_view key, bool required) {
  const std::string name(key);
  const Value& value = map[key];
  if (value.IsNull()) {
    if (required) {
      Error(map.line(), "no '" + name + "'", "add '" + name + ": ...'");
    }
    return std::nullopt;
  }
  if (value.IsList() || value.IsMap()) {
    Error(value.line(), "'" + name + "' is a " + value.TypeName() + ", not a text",
          "write one line of text");
    return std::nullopt;
  }
  std::string text = value.ToText();
  if (text.size() > 1024 || text.find('\n') != std::string::npos || text.empty()) {
    Error(value.line(), "'" + name + "' is not one line of at most 1024 bytes", "shorten it");
    return std::nullopt;
  }
  return text;
}

std::optional<double> SpecReader::Number(const Value& map, std::string_view key) {
  const Value& value = map[key];
  if (value.IsNull()) return std::nullopt;
  if (value.IsNumber() && std::isfinite(value.AsDouble())) return value.AsDouble();
  Error(value.line(), "'" + std::string(key) + "' is " + Shown(value.ToText()) + ", not a number",
        "write a finite number, e.g. 1e-3");
  return std::nullopt;
}

bool SpecReader::Flag(const Value& map, std::string_view key) {
  const Value& value = map[key];
  if (value.IsNull() || value.IsBool()) return value.AsBool();
  Error(value.line(), "'" + std::string(key) + "' is " + Shown(value.ToText()) + ", not a bool",
        "write true or false");
  return false;
}

std::optional<Expression> SpecReader::Formula(const Value& value, const std::string& what,
                                              const std::vector<std::string>& names) {
  if (value.IsInt()) return Expression(value.AsInt());
  if (!value.IsString()) {
    Error(value.line(), what + " is a " + value.TypeName() + ", not an integer or an expression",
          "write e.g. 256 or \"ceil_div(n, 256)\"");
    return std::nullopt;
  }
  std::string why;
  std::optional<Expression> formula = Expression::Parse(value.AsString(), &why);
  if (!formula) {
    Error(value.line(), what + " " + Shown(value.AsString()) + ": " + Printable(why),
          "mend the expression; in a list [...] one with a comma wants quotes");
    return std::nullopt;
  }
  for (const std::string& name : formula->names()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string nearest = NearestOf(name, names);
    Error(value.line(), what + " " + Shown(value.AsString()) + " has no name " + Shown(name),
          nearest.empty() ? "the names are " + ListOf(names) : "did you mean '" + nearest + "'?");
    return std::nullopt;
  }
  return formula;
}

std::vector<Expression> SpecReader::Formulas(const Value& list, const std::string& what,
                                             size_t limit, const std::vector<std::string>& names) {
  const size_t count = list.AsList().size();
  if (!list.IsList() || count < 1 || count > limit) {
    Error(list.line(), what + " is not a list of 1 to " + std::to_string(limit) + " expressions",
          "write e.g. [rows, 4*cols]");
    return {};
  }
  std::vector<Expression> formulas;
  for (const Value& item : list.AsList()) {
    const std::optional<Expression> formula = Formula(item, what, names);
    if (!formula) return {};
    formulas.push_back(*formula);
  }
  return formulas;
}

}  // namespace kb
