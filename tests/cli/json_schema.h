// As much of JSON Schema 2020-12 as our tools use. A keyword it does not know is a failure.
#pragma once

#include <string>
#include <string_view>

#include "kb/value.h"

namespace kb::test {

inline bool HasType(const Value& value, std::string_view type) {
  if (type == "object") return value.IsMap();
  if (type == "array") return value.IsList();
  if (type == "string") return value.IsString();
  if (type == "boolean") return value.IsBool();
  if (type == "integer") return value.IsInt();
  if (type == "number") return value.IsNumber();
  return type == "null" && value.IsNull();
}

// "" or the first thing in which `value` does not conform to `schema`, with its place.
// NOLINTNEXTLINE(misc-no-recursion): as deep as our schemas
inline std::string Violation(const Value& schema, const Value& value, const std::string& at = "$") {
  for (const auto& [key, rule] : schema.AsMap()) {
    if (key == "type" && !HasType(value, rule.AsString())) {
      return at + " is a " + value.TypeName() + ", not a " + rule.AsString();
    }
    if (key == "enum") {
      bool is_one = false;
      for (const Value& one : rule.AsList()) is_one = is_one || one == value;
      if (!is_one) return at + " is none of the enum";
    }
    if (key == "minimum" && !(value.AsDouble(-1e300) >= rule.AsDouble()))
      return at + " is too small";
    if (key == "maximum" && !(value.AsDouble(1e300) <= rule.AsDouble()))
      return at + " is too large";
    if (key == "required") {
      for (const Value& name : rule.AsList()) {
        if (!value.Has(name.AsString())) return at + " lacks " + name.AsString();
      }
    }
    if (key == "additionalProperties" && !rule.AsBool(true)) {
      for (const auto& [name, member] : value.AsMap()) {
        if (!schema["properties"].Has(name)) return at + " has the unknown " + name;
      }
    }
    if (key == "properties") {
      for (const auto& [name, member] : value.AsMap()) {
        std::string wrong = Violation(rule[name], member, at + "." + name);
        if (!wrong.empty()) return wrong;
      }
    }
    if (key == "items") {
      for (const Value& item : value.AsList()) {
        std::string wrong = Violation(rule, item, at + "[]");
        if (!wrong.empty()) return wrong;
      }
    }
    if (key == "anyOf") {
      std::string wrong = at + " matches none";
      for (const Value& one : rule.AsList()) {
        if (Violation(one, value, at).empty()) wrong.clear();
      }
      if (!wrong.empty()) return wrong;
    }
    constexpr std::string_view kKnown =
        " $schema type enum minimum maximum required additionalProperties properties items anyOf "
        "description default minLength maxLength maxItems ";
    if (kKnown.find(" " + key + " ") == std::string_view::npos)
      return at + ": keyword " + key + "?";
  }
  return "";
}

}  // namespace kb::test
