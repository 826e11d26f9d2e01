#include "kb/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "kb/json.h"

namespace kb {
namespace {

// Thrown inside the event handler alone: yaml-cpp has no other way to stop.
struct Stop {
  int line;  // 0-based
  const char* message;
  bool over_limit;
};

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?   (YAML 1.2, 10.3.2)
bool IsFloat(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (!exponent.empty() && (exponent[0] == '-' || exponent[0] == '+')) exponent.remove_prefix(1);
    if (!AllDigits(exponent)) return false;
    text = text.substr(0, e);
  }
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return AllDigits(text);
  const std::string_view after = text.substr(dot + 1);
  return dot == 0 ? AllDigits(after)
                  : AllDigits(text.substr(0, dot)) && (after.empty() || AllDigits(after));
}

std::optional<int64_t> ToInt(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x") base = 16;
  if (text.substr(0, 2) == "0o") base = 8;
  if (base != 10) text.remove_prefix(2);
  const bool plus = base == 10 && !text.empty() && text[0] == '+';
  if (plus) text.remove_prefix(1);
  const bool digits_first = text.empty() || (text[0] != '-' && text[0] != '+');
  if (text.empty() || (!digits_first && (plus || base != 10))) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A plain scalar by the core schema.
Value CoreScalar(const std::string& text) {
  if (IsOneOf(text, {"", "~", "null", "Null", "NULL"})) return Value();
  if (IsOneOf(text, {"true", "True", "TRUE"})) return Value(true);
  if (IsOneOf(text, {"false", "False", "FALSE"})) return Value(false);
  if (const std::optional<int64_t> i = ToInt(text)) return Value(*i);
  if (IsOneOf(text, {".nan", ".NaN", ".NAN"})) {
    return Value(std::numeric_limits<double>::quiet_NaN());
  }
  const bool negative = text[0] == '-';
  const std::string_view magnitude =
      std::string_view(text).substr(negative || text[0] == '+' ? 1 : 0);
  if (IsOneOf(magnitude, {".inf", ".Inf", ".INF"})) {
    const double infinity = std::numeric_limits<double>::infinity();
    return Value(negative ? -infinity : infinity);
  }
  if (!IsFloat(text)) return Value(text);
  double d = 0;
  const std::from_chars_result result =
      std::from_chars(magnitude.data(), magnitude.data() + magnitude.size(), d);
  if (result.ec != std::errc()) return Value(text);  // out of range: kept as it is written
  return Value(negative ? -d : d);
}

class ValueBuilder : public YAML::EventHandler {
 public:
  ValueBuilder(int line_offset, const YamlLimits& limits)
      : line_offset_(line_offset), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { Put(Value(), "null", mark.line); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Stop{mark.line, "an alias: write out what it repeats", false};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& text) override {
    const bool plain = tag == "?" || tag == "tag:yaml.org,2002:int" ||
                       tag == "tag:yaml.org,2002:float" || tag == "tag:yaml.org,2002:bool";
    Put(plain ? CoreScalar(text) : Value(text), text, mark.line);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    Open(Value(Value::List()), mark.line);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    Open(Value(Value::Map()), mark.line);
  }
  void OnMapEnd() override { Close(); }

  Value Take() { return std::move(root_); }

 private:
  struct Level {
    Value value;
    std::string key;
    bool has_key = false;
  };

  void Count(int line) {
    if (++nodes_ > limits_.max_nodes) throw Stop{line, "too many nodes", true};
  }
  // `text`: the scalar as written, in case it is a key.
  void Put(Value value, const std::string& text, int line) {
    Count(line);
    value.set_line(line + 1 + line_offset_);
    Place(std::move(value), text);
  }
  void Open(Value value, int line) {
    Count(line);
    if (static_cast<int>(open_.size()) >= limits_.max_depth)
      throw Stop{line, "nested too deeply", true};
    value.set_line(line + 1 + line_offset_);
    open_.push_back({std::move(value), "", false});
  }
  void Close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    const bool is_key = !open_.empty() && open_.back().value.IsMap() && !open_.back().has_key;
    const std::string text = is_key ? WriteJson(value) : "";
    Place(std::move(value), text);
  }
  void Place(Value value, const std::string& text) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Level& top = open_.back();
    if (top.value.IsList()) {
      top.value.Add(std::move(value));
    } else if (!top.has_key) {
      top.key = text;
      top.has_key = true;
    } else {
      top.value.Set(std::move(top.key), std::move(value));
      top.has_key = false;
    }
  }

  int line_offset_;
  const YamlLimits& limits_;
  int nodes_ = 0;
  std::vector<Level> open_;
  Value root_;
};

// yaml-cpp counts lines by '\n' alone, guesses UTF-16 from a leading FE or FF, and takes
// 0x04 for the end of the text; so line ends are made '\n' and control bytes refused.
std::optional<std::string> Prepare(std::string_view text, YamlError* error) {
  std::string out;
  out.reserve(text.size());
  int line = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const bool first_of_utf16 = i == 0 && c >= 0xFE;
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F || first_of_utf16) {
      *error = {line, first_of_utf16 ? "not UTF-8" : "a control character", false};
      return std::nullopt;
    }
    if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += c == '\r' ? '\n' : text[i];
    if (out.back() == '\n') ++line;
  }
  return out;
}

}  // namespace

std::optional<Value> ParseYaml(std::string_view text, int line_offset, YamlError* error,
                               const YamlLimits& limits) {
  YamlError ignored;
  if (error == nullptr) error = &ignored;
  if (text.size() > limits.max_bytes) {
    *error = {1, "larger than " + std::to_string(limits.max_bytes) + " bytes", true};
    return std::nullopt;
  }
  const std::optional<std::string> prepared = Prepare(text, error);
  if (!prepared) return std::nullopt;
  try {
    std::istringstream stream(*prepared);
    YAML::Parser parser(stream);
    ValueBuilder builder(line_offset, limits);
    if (!parser.HandleNextDocument(builder)) return Value();
    Value value = builder.Take();
    ValueBuilder second(line_offset, limits);
    if (parser.HandleNextDocument(second)) {
      *error = {1, "more than one YAML document", false};
      return std::nullopt;
    }
    return value;
  } catch (const Stop& stop) {
    *error = {stop.line + 1, stop.message, stop.over_limit};
  } catch (const YAML::Exception& e) {
    *error = {std::max(e.mark.line, 0) + 1, e.msg, false};
  } catch (const std::exception& e) {
    *error = {1, e.what(), false};
  }
  return std::nullopt;
}

}  // namespace kb
