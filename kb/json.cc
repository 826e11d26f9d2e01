#include "kb/json.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "kb/utf8.h"

namespace kb {
namespace {

// Builds a Value from the parser's events; nlohmann's own tree would sort or lose keys.
class ValueBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit ValueBuilder(int max_depth) : max_depth_(max_depth) {}

  bool null() override { return Put(Value()); }
  bool boolean(bool b) override { return Put(Value(b)); }
  bool number_integer(int64_t i) override { return Put(Value(i)); }
  bool number_unsigned(uint64_t u) override {
    if (u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Put(Value(static_cast<double>(u)));
    }
    return Put(Value(static_cast<int64_t>(u)));
  }
  bool number_float(double d, const std::string&) override { return Put(Value(d)); }
  bool string(std::string& s) override { return Put(Value(std::move(s))); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(Value(Value::Map())); }
  bool start_array(std::size_t) override { return Open(Value(Value::List())); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(std::string& k) override {
    open_.back().key = std::move(k);
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& e) override {
    why_ = e.what();
    // "[json.exception.parse_error.101] parse error at ...": the id helps nobody.
    if (const size_t id_end = why_.find("] "); id_end != std::string::npos) {
      why_.erase(0, id_end + 2);
    }
    if (why_.find(" at ") == std::string::npos) why_ += " at byte " + std::to_string(position);
    return false;
  }

  Value Take() { return std::move(root_); }
  std::string Why() { return std::move(why_); }

 private:
  struct Level {
    Value value;
    std::string key;  // of the map that `value` is, for the next Put
  };

  bool Put(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Level& top = open_.back(); top.value.IsMap()) {
      top.value.Set(std::move(top.key), std::move(value));
    } else {
      top.value.Add(std::move(value));
    }
    return true;
  }
  bool Open(Value value) {
    if (static_cast<int>(open_.size()) >= max_depth_) {
      why_ = "nested deeper than " + std::to_string(max_depth_) + " levels";
      return false;
    }
    open_.push_back({std::move(value), ""});
    return true;
  }
  bool Close() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    return Put(std::move(value));
  }

  int max_depth_;
  std::vector<Level> open_;
  Value root_;
  std::string why_;
};

void WriteEscape(unsigned char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
  }
}

void WriteString(std::string_view text, std::string& out) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    const int length = Utf8Length(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F) {
      WriteEscape(c, out);
    } else {
      out.append(text, i, static_cast<size_t>(length));
    }
    i += length == 0 ? 1 : static_cast<size_t>(length);
  }
  out += '"';
}

void WriteBreak(int indent, int depth, std::string& out) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<size_t>(indent) * static_cast<size_t>(depth), ' ');
}

void WriteValue(const Value& value, int indent, int depth, std::string& out) {
  const bool is_map = value.IsMap();
  if (value.IsString()) return WriteString(value.AsString(), out);
  if (value.IsNull() || (value.IsDouble() && !std::isfinite(value.AsDouble()))) {
    out += "null";
    return;
  }
  if (!is_map && !value.IsList()) {
    out += value.ToText();
    return;
  }
  const char* comma = "";
  const auto next = [&] {
    out += comma;
    comma = ",";
    WriteBreak(indent, depth + 1, out);
  };
  out += is_map ? '{' : '[';
  for (const auto& [key, item] : value.AsMap()) {
    next();
    WriteString(key, out);
    out += indent < 0 ? ":" : ": ";
    WriteValue(item, indent, depth + 1, out);
  }
  for (const Value& item : value.AsList()) {
    next();
    WriteValue(item, indent, depth + 1, out);
  }
  if (*comma != '\0') WriteBreak(indent, depth, out);
  out += is_map ? '}' : ']';
}

// C1 controls, direction marks and line separators as \uXXXX: JSON may hold them raw, but a
// terminal would obey them and a reader not see them. They stand in strings only.
std::string EscapeHidden(const std::string& json) {
  if (json.find_first_of("\xC2\xE2") == std::string::npos) return json;
  std::string out;
  for (size_t i = 0; i < json.size(); ++i) {
    const auto byte = [&](size_t k) {
      return i + k < json.size() ? static_cast<unsigned char>(json[i + k]) : 0u;
    };
    unsigned code = 0;
    if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) < 0xA0) code = byte(1);
    if (byte(0) == 0xE2 && (byte(1) == 0x80 || byte(1) == 0x81)) {
      const unsigned c = 0x2000 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
      const bool hidden = c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
                          (c >= 0x2066 && c <= 0x2069);
      code = hidden ? c : 0;
    }
    if (code == 0) {
      out += json[i];
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\u%04x", code);
    out += escaped;
    i += code < 0x100 ? 1 : 2;
  }
  return out;
}

}  // namespace

std::optional<Value> ParseJson(std::string_view text, std::string* why, const JsonLimits& limits) {
  const auto fail = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return std::nullopt;
  };
  if (text.size() > limits.max_bytes) {
    return fail("larger than " + std::to_string(limits.max_bytes) + " bytes");
  }
  ValueBuilder builder(limits.max_depth);
  if (!nlohmann::json::sax_parse(text, &builder)) return fail(builder.Why());
  return builder.Take();
}

std::string WriteJson(const Value& value, int indent) {
  std::string out;
  WriteValue(value, indent, 0, out);
  return EscapeHidden(out);
}

}  // namespace kb
