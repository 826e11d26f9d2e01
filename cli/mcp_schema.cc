#include "cli/mcp_schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "cli/mcp_json_rpc.h"
#include "cli/raw_args.h"

namespace kb {
namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool IsTaken(const Command& command, const Option& option) {
  return !std::ranges::count(Split(command.tool_hides, ' '), BareName(option));
}

// A positional that takes all words that are left is one text to a client.
bool IsList(const Option& option) { return IsRepeatable(option) && !IsPositional(option); }

bool IsFile(const Option& option) { return option.type == ArgType::kPath; }

bool IsRequired(const Option& option) { return option.required || IsFile(option); }

int MaxChars(const Option& option) { return IsFile(option) ? kMaxFileChars : kMaxArgumentChars; }

std::string Help(const Option& option) {
  return IsFile(option) ? "the text itself, not a path: " + std::string(option.help) : option.help;
}

std::vector<const Option*> TakenOptions(const Command& command) {
  std::vector<const Option*> taken;
  for (const Option& option : command.options) {
    if (IsTaken(command, option)) taken.push_back(&option);
  }
  return taken;
}

Value StringSchema(const Option& option) {
  Value::Map schema = {{"type", "string"}};
  const std::vector<std::string> choices = Split(option.choices, '|');
  if (choices.empty()) {
    schema.emplace_back("minLength", 1);
    schema.emplace_back("maxLength", MaxChars(option));
  } else {
    schema.emplace_back("enum", Value(Value::List(choices.begin(), choices.end())));
  }
  return Value(std::move(schema));
}

Value PlainSchema(const Option& option) {
  if (option.type == ArgType::kFlag) return Value(Value::Map{{"type", "boolean"}});
  if (option.type != ArgType::kInt) return StringSchema(option);
  return Value(Value::Map{{"type", "integer"}, {"minimum", option.low}, {"maximum", option.high}});
}

Value DefaultOf(const Option& option) {
  const std::string_view text = option.fallback;
  int64_t number = 0;
  if (option.type != ArgType::kInt) return Value(text);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return Value(number);
}

Value PropertySchema(const Option& option) {
  Value schema = PlainSchema(option);
  if (IsList(option)) {
    schema = Value(Value::Map{
        {"type", "array"}, {"items", std::move(schema)}, {"maxItems", kMaxArgumentItems}});
  }
  if (option.fallback[0] != '\0') schema.Set("default", DefaultOf(option));
  schema.Set("description", Help(option));
  return schema;
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<int>(c) & 0xC0) != 0x80; }));
}

std::string NotA(const Option& option, const std::string& what) {
  return "\"" + ArgumentName(option) + "\" " + what;
}

// Each adds to `args` or says what is wrong.
std::string TakeText(const Option& option, const Value& value, Args* args) {
  if (!value.IsString()) return NotA(option, "must be a string");
  const std::string& text = value.AsString();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return NotA(option, "is empty; give " + Help(option));
  }
  const std::vector<std::string> choices = Split(option.choices, '|');
  if (!choices.empty() && !std::ranges::count(choices, text)) {
    const std::string nearest = Nearest(BoundedLine(text, 100), choices);
    return NotA(option,
                std::string("takes ") + option.choices + ", not '" + BoundedLine(text, 100) + "'") +
           (nearest.empty() ? "" : "; did you mean " + nearest + "?");
  }
  if (Characters(text) > static_cast<size_t>(MaxChars(option))) {
    return NotA(option,
                "is longer than " + std::to_string(MaxChars(option)) + " characters; shorten it");
  }
  args->Add(BareName(option), text);
  return "";
}

std::string TakeNumber(const Option& option, const Value& value, Args* args) {
  const double number = value.AsDouble(std::nan(""));
  if (!(number >= option.low && number <= option.high) || number != std::floor(number)) {
    return NotA(option, "must be a whole number from " + std::to_string(option.low) + " to " +
                            std::to_string(option.high));
  }
  args->Add(BareName(option), std::to_string(static_cast<int>(number)));
  return "";
}

std::string TakeList(const Option& option, const Value& value, Args* args) {
  if (!value.IsList()) return NotA(option, "must be a list of strings");
  if (value.AsList().size() > kMaxArgumentItems) {
    return NotA(option, "has more than " + std::to_string(kMaxArgumentItems) + " items");
  }
  for (const Value& item : value.AsList()) {
    if (std::string wrong = TakeText(option, item, args); !wrong.empty()) return wrong;
  }
  return "";
}

std::string TakeOne(const Option& option, const Value& value, Args* args) {
  if (IsList(option)) return TakeList(option, value, args);
  if (option.type == ArgType::kInt) return TakeNumber(option, value, args);
  if (option.type != ArgType::kFlag) return TakeText(option, value, args);
  if (!value.IsBool()) return NotA(option, "must be true or false");
  if (value.AsBool()) args->Add(BareName(option), "true");
  return "";
}

std::string Unknown(const std::string& name, const std::vector<const Option*>& options) {
  std::vector<std::string> known;
  std::string all;
  for (const Option* option : options) {
    known.push_back(ArgumentName(*option));
    all += (all.empty() ? "" : ", ") + known.back();
  }
  const std::string nearest = Nearest(name, known);
  return "unknown argument \"" + name + "\"" +
         (nearest.empty() ? "; it takes " + all : "; did you mean \"" + nearest + "\"?");
}

}  // namespace

std::string ArgumentName(const Option& option) {
  std::string name = BareName(option);
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  for (char& c : name) {
    c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

Value InputSchema(const Command& command) {
  Value::Map properties;
  Value::List required;
  for (const Option* option : TakenOptions(command)) {
    properties.emplace_back(ArgumentName(*option), PropertySchema(*option));
    if (IsRequired(*option)) required.emplace_back(ArgumentName(*option));
  }
  Value::Map schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"type", "object"},
                       {"properties", Value(std::move(properties))},
                       {"additionalProperties", false}};
  if (!required.empty()) schema.emplace_back("required", Value(std::move(required)));
  return Value(std::move(schema));
}

ToolArguments ReadToolArguments(const Command& command, const Value& arguments) {
  ToolArguments read;
  if (!arguments.IsMap() && !arguments.IsNull()) {
    read.wrong = "\"arguments\" must be an object";
    return read;
  }
  const std::vector<const Option*> options = TakenOptions(command);
  for (const auto& [name, value] : arguments.AsMap()) {
    const auto option = std::ranges::find_if(
        options, [&name = name](const Option* one) { return ArgumentName(*one) == name; });
    if (option == options.end()) {
      read.wrong = Unknown(BoundedLine(name, 100), options);
    } else if (read.args.Has(BareName(**option))) {
      read.wrong = NotA(**option, "is given twice");
    } else {
      read.wrong = TakeOne(**option, value, &read.args);
    }
    if (!read.wrong.empty()) return read;
  }
  for (const Option* option : options) {
    if (!IsRequired(*option) || read.args.Has(BareName(*option))) continue;
    read.wrong = NotA(*option, "is missing; give " + Help(*option));
    break;
  }
  return read;
}

}  // namespace kb
