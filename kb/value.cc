#include "kb/value.h"

#include <charconv>
#include <cmath>

namespace kb {
namespace {

constexpr const char* kTypeNames[] = {"null", "bool", "int", "double", "string", "list", "map"};

// The shortest text that reads back as the same double, with a ".0" where an int
// would be read otherwise.
std::string DoubleText(double d) {
  if (std::isnan(d)) return ".nan";
  if (std::isinf(d)) return d < 0 ? "-.inf" : ".inf";
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, d);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

const char* Value::TypeName() const { return kTypeNames[data_.index()]; }

bool Value::AsBool(bool fallback) const {
  const bool* b = std::get_if<bool>(&data_);
  return b != nullptr ? *b : fallback;
}

int64_t Value::AsInt(int64_t fallback) const {
  const int64_t* i = std::get_if<int64_t>(&data_);
  return i != nullptr ? *i : fallback;
}

double Value::AsDouble(double fallback) const {
  if (IsInt()) return static_cast<double>(AsInt());
  const double* d = std::get_if<double>(&data_);
  return d != nullptr ? *d : fallback;
}

const std::string& Value::AsString() const {
  static const std::string empty;
  const std::string* s = std::get_if<std::string>(&data_);
  return s != nullptr ? *s : empty;
}

const Value::List& Value::AsList() const {
  static const List empty;
  const List* l = std::get_if<List>(&data_);
  return l != nullptr ? *l : empty;
}

const Value::Map& Value::AsMap() const {
  static const Map empty;
  const Map* m = std::get_if<Map>(&data_);
  return m != nullptr ? *m : empty;
}

std::string Value::ToText() const {
  if (IsString()) return AsString();
  if (IsBool()) return AsBool() ? "true" : "false";
  if (IsInt()) return std::to_string(AsInt());
  if (IsDouble()) return DoubleText(AsDouble());
  return "";
}

const Value& Value::operator[](std::string_view key) const {
  static const Value null;
  for (const auto& [name, value] : AsMap()) {
    if (name == key) return value;
  }
  return null;
}

bool Value::Has(std::string_view key) const {
  for (const auto& [name, value] : AsMap()) {
    if (name == key) return true;
  }
  return false;
}

Value& Value::Set(std::string key, Value value) {
  if (!IsMap()) data_ = Map();
  std::get<Map>(data_).emplace_back(std::move(key), std::move(value));
  return *this;
}

Value& Value::Add(Value value) {
  if (!IsList()) data_ = List();
  std::get<List>(data_).push_back(std::move(value));
  return *this;
}

}  // namespace kb
