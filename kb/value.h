// A tree of values as YAML and JSON documents have them: null, bool, int,
// double, string, list, map. Maps keep the order of their keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kb {

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<std::string, Value>>;

  Value() = default;  // null
  Value(bool b) : data_(b) {}
  Value(int i) : data_(static_cast<int64_t>(i)) {}
  Value(int64_t i) : data_(i) {}
  Value(double d) : data_(d) {}
  Value(const char* s) : data_(std::string(s)) {}
  Value(std::string s) : data_(std::move(s)) {}
  Value(std::string_view s) : data_(std::string(s)) {}
  Value(List l) : data_(std::move(l)) {}
  Value(Map m) : data_(std::move(m)) {}

  [[nodiscard]] bool IsNull() const { return data_.index() == 0; }
  [[nodiscard]] bool IsBool() const { return data_.index() == 1; }
  [[nodiscard]] bool IsInt() const { return data_.index() == 2; }
  [[nodiscard]] bool IsDouble() const { return data_.index() == 3; }
  [[nodiscard]] bool IsNumber() const { return IsInt() || IsDouble(); }
  [[nodiscard]] bool IsString() const { return data_.index() == 4; }
  [[nodiscard]] bool IsList() const { return data_.index() == 5; }
  [[nodiscard]] bool IsMap() const { return data_.index() == 6; }

  // "null", "bool", "int", "double", "string", "list" or "map".
  [[nodiscard]] const char* TypeName() const;

  // Each returns the fallback (or an empty one) if this has another type.
  [[nodiscard]] bool AsBool(bool fallback = false) const;
  [[nodiscard]] int64_t AsInt(int64_t fallback = 0) const;
  [[nodiscard]] double AsDouble(double fallback = 0) const;  // ints too
  [[nodiscard]] const std::string& AsString() const;
  [[nodiscard]] const List& AsList() const;
  [[nodiscard]] const Map& AsMap() const;

  // Scalars as text (null: ""); lists and maps: "". For lenient reading.
  [[nodiscard]] std::string ToText() const;

  // The value of `key` in a map; a null value if this is no map or has no such
  // key. The first of repeated keys wins.
  [[nodiscard]] const Value& operator[](std::string_view key) const;
  [[nodiscard]] bool Has(std::string_view key) const;

  // Appends to a map (making null a map) or a list (making null a list).
  Value& Set(std::string key, Value value);
  Value& Add(Value value);

  [[nodiscard]] int line() const { return line_; }  // 1-based; 0: unknown
  void set_line(int line) { line_ = line; }

  // Compares data, not lines.
  friend bool operator==(const Value& a, const Value& b) { return a.data_ == b.data_; }

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map> data_;
  int line_ = 0;
};

}  // namespace kb
