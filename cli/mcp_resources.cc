#include "cli/mcp_resources.h"

#include <cctype>
#include <map>
#include <utility>

#include "cli/document_json.h"
#include "cli/mcp_cursor.h"
#include "cli/mcp_skills.h"
#include "cli/mcp_text.h"
#include "indexer/context.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr const char kScheme[] = "kb://";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

using Counts = std::map<std::string, int>;

// How many documents have the same id: two roots may hold a skill of one name.
Counts CountIds(const std::vector<CatalogDocument>& documents) {
  Counts counts;
  for (const CatalogDocument& document : documents) ++counts[document.id];
  return counts;
}

Value ResourceJson(const CatalogDocument& document, const Counts& ids) {
  const std::string& name = ids.at(document.id) > 1 ? document.path : document.id;
  const Value marked = MarkedDocument(document);
  Value::Map meta = {{"kb/kind", marked["kind"]},
                     {"kb/trust", marked["trust"]},
                     {"kb/sha256", marked["sha256"]},
                     {"kb/path", marked["path"]}};
  return Value(Value::Map{{"uri", DocumentUri(name)},
                          {"name", EscapeDelimiters(CutText(name, 400))},
                          {"title", marked["title"]},
                          {"description", marked["description"]},
                          {"mimeType", "text/markdown"},
                          {"_meta", Value(std::move(meta))}});
}

std::string CutNote(const CatalogDocument& document, size_t shown, size_t size) {
  return "[cut: " + std::to_string(shown) + " of " + std::to_string(size) + " bytes; kb_get \"" +
         document.id + "\" names the passages]\n";
}

RpcResult ReadDocument(McpCall& call, const std::string& uri) {
  const std::string id = DocumentIdOf(uri);
  Retriever* retriever = call.index.OpenIfAny();
  if (id.empty() || retriever == nullptr) return UnknownResource(uri);
  const auto document = retriever->catalog().FindDocument(id);
  if (!document || document->blocked) return UnknownResource(uri);
  const std::string whole = retriever->catalog().Text(document->row);
  const std::string text = CutText(whole, kMaxDocumentBytes);
  std::string marked = MarkedText(*document, text);
  if (text.size() < whole.size()) {
    marked += EscapeDelimiters(CutNote(*document, text.size(), whole.size()));
  }
  return Cacheable(TextContents(uri, std::move(marked), "text/markdown"), kIndexTtlMs);
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '.' ||
                                          c == '_' || c == '~' || c == '/');
    if (is_plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

std::string PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = high >= 0 ? HexDigit(text[i + 2]) : -1;
    if (low < 0) return "";
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string DocumentUri(std::string_view id) { return kScheme + PercentEncode(id); }

std::string DocumentIdOf(std::string_view uri) {
  constexpr std::string_view scheme = kScheme;
  return uri.starts_with(scheme) ? PercentDecode(uri.substr(scheme.size())) : "";
}

Value::Map TextContents(std::string_view uri, std::string text, const char* mime) {
  Value content(Value::Map{{"uri", uri}, {"mimeType", mime}, {"text", std::move(text)}});
  return {{"contents", Value(Value::List{std::move(content)})}};
}

RpcError UnknownResource(std::string_view uri) {
  return {kInvalidParams,
          "unknown resource '" + BoundedLine(uri, 200) + "'; resources/list names all",
          Value(Value::Map{{"uri", BoundedLine(uri, 200)}})};
}

RpcResult ListResources(McpCall& call) {
  Retriever* retriever = call.index.OpenIfAny();
  const auto from = ReadCursor(call.params, "resources/list", call.index.openings());
  if (!from) return RpcError{kInvalidParams, "unknown cursor; list anew without one"};
  Value::Map result;
  Value::List list;
  size_t seen = 0, bytes = 0;
  const auto documents =
      retriever == nullptr ? std::vector<CatalogDocument>() : retriever->catalog().Documents();
  const Counts ids = CountIds(documents);
  for (const CatalogDocument& document : documents) {
    if (document.blocked || seen++ < *from) continue;
    Value json = ResourceJson(document, ids);
    bytes += WriteJson(json).size();
    if (!list.empty() && (list.size() == kMaxPageItems || bytes > kMaxPageBytes)) {
      const Cursor next = {"resources/list", call.index.openings(), seen - 1};
      result.emplace_back("nextCursor", WriteCursor(next));
      break;
    }
    list.push_back(std::move(json));
  }
  result.emplace_back("resources", Value(std::move(list)));
  return Cacheable(std::move(result), kIndexTtlMs);
}

RpcResult ListResourceTemplates(McpCall& call) {
  if (call.params.Has("cursor")) {
    return RpcError{kInvalidParams, "unknown cursor; resources/templates/list has one page"};
  }
  Value document(Value::Map{{"uriTemplate", "kb://{+id}"},
                            {"name", "document"},
                            {"title", "A document of the knowledge base"},
                            {"description", "A skill, trace, entry or page by its id"},
                            {"mimeType", "text/markdown"}});
  Value file(Value::Map{{"uriTemplate", "skill://{name}/{+path}"},
                        {"name", "skill_file"},
                        {"title", "A file of a skill"},
                        {"description", "SKILL.md or a file beside it, byte for byte"}});
  return Cacheable(
      {{"resourceTemplates", Value(Value::List{std::move(document), std::move(file)})}},
      kFixedTtlMs);
}

RpcResult ReadResource(McpCall& call) {
  if (!call.params["uri"].IsString()) return RpcError{kInvalidParams, "\"uri\" must be a string"};
  const std::string& uri = call.params["uri"].AsString();
  if (uri.size() > 4096) return UnknownResource(uri);
  return uri.starts_with("skill://") ? ReadSkillFile(call, uri) : ReadDocument(call, uri);
}

}  // namespace kb
