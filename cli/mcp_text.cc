#include "cli/mcp_text.h"

#include <algorithm>
#include <utility>

#include "cli/document_json.h"
#include "indexer/context.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr size_t kMaxField = 400;
constexpr size_t kMaxFieldItems = 10;

std::string Attribute(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : "";
    if (c != '&' && c != '<' && c != '>' && c != '"') out += c;
  }
  return out;
}

}  // namespace

std::string CutText(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  const size_t line = text.substr(0, end).rfind('\n');
  if (line != std::string_view::npos && line > end / 2) end = line + 1;
  return std::string(text.substr(0, end));
}

Value Shortened(const Value& value) {
  if (value.IsString()) return Value(CutText(value.AsString(), kMaxField));
  if (value.IsList()) {
    Value::List list;
    for (const Value& item : value.AsList()) {
      if (list.size() < kMaxFieldItems) list.push_back(Shortened(item));
    }
    return Value(std::move(list));
  }
  if (!value.IsMap()) return value;
  Value::Map map;
  for (const auto& [key, item] : value.AsMap()) map.emplace_back(key, Shortened(item));
  return Value(std::move(map));
}

Value Escaped(Value value) {
  if (value.IsString()) return Value(EscapeDelimiters(value.AsString()));
  if (value.IsList()) {
    Value::List list;
    for (const Value& item : value.AsList()) list.push_back(Escaped(item));
    return Value(std::move(list));
  }
  if (!value.IsMap()) return value;
  Value::Map map;
  for (const auto& [key, item] : value.AsMap()) map.emplace_back(key, Escaped(item));
  return Value(std::move(map));
}

Value MarkedDocument(const CatalogDocument& document) {
  return Escaped(Shortened(Value(DocumentJson(document))));
}

std::string MarkedText(const CatalogDocument& document, std::string_view text) {
  std::string marked = "<kb-item id=\"" + Attribute(document.id) + "\" kind=\"" +
                       KindName(document.kind) + "\" trust=\"" + Attribute(TrustOf(document)) +
                       "\" source=\"" + Attribute(document.path) + "\" sha256=\"" +
                       document.sha256 + "\">\n" + EscapeDelimiters(text);
  if (!marked.ends_with('\n')) marked += '\n';
  return marked + "</kb-item>\n";
}

Fitted FitItems(Value::List items, size_t* room) {
  Fitted fitted;
  for (Value& item : items) {
    const size_t size = WriteJson(item).size() + 1;
    if (fitted.left_out > 0 || size > *room) {
      ++fitted.left_out;
      continue;
    }
    *room -= size;
    fitted.items.push_back(std::move(item));
  }
  return fitted;
}

}  // namespace kb
