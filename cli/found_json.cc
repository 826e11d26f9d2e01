#include "cli/found_json.h"

#include <algorithm>
#include <utility>

#include "cli/command.h"
#include "cli/document_json.h"
#include "cli/place.h"
#include "kb/file.h"
#include "kb/markdown.h"

namespace kb {
namespace {

// By id, by path as catalogued, or by path from the working folder.
std::optional<CatalogDocument> FindOne(Catalog& catalog, const std::string& kb_dir,
                                       const std::string& name) {
  auto found = catalog.FindDocument(name);
  return found ? found : catalog.FindDocument(CataloguedPath(kb_dir, name));
}

std::string NoDocument(Catalog& catalog, const std::string& name) {
  std::vector<std::string> known;
  for (const CatalogDocument& document : catalog.Documents()) {
    known.push_back(document.id);
    if (document.path != document.id) known.push_back(document.path);
  }
  const std::string nearest = Nearest(name.substr(0, name.rfind('#')), known);
  return "no document " + Printable("'" + name + "'") +
         (nearest.empty() ? "; kb search finds one by its content"
                          : "; did you mean " + Printable(nearest) + "?");
}

std::string NoPassage(const Found& found, const std::string& chunk_id) {
  return Printable(found.document->id) + " has no passage " + Printable("'" + chunk_id + "'") +
         (found.chunks.empty() ? "" : "; its first is " + found.chunks.front().id);
}

// Bounds against a catalog whose chunk and text do not belong together.
std::string Cut(const std::string& text, const Chunk& chunk) {
  const auto size = static_cast<int64_t>(text.size());
  const int64_t begin = std::clamp<int64_t>(chunk.begin, 0, size);
  const int64_t end = std::clamp<int64_t>(chunk.end, begin, size);
  return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

void NarrowTo(const std::string& chunk_id, Found* found) {
  for (const Chunk& chunk : found->chunks) {
    if (chunk.id != chunk_id) continue;
    found->chunk = chunk;
    found->text = Cut(found->text, chunk);
    return;
  }
  found->why_not = NoPassage(*found, chunk_id);
}

Value LinesJson(const Chunk& chunk) {
  return Value(Value::List{chunk.first_line, chunk.last_line});
}

}  // namespace

Found FindNamed(Catalog& catalog, const std::string& kb_dir, const std::string& name) {
  Found found = {FindOne(catalog, kb_dir, name), {}, "", {}, ""};
  // A citation, ID@DIGEST: the document, if it is still the one that was cited.
  const size_t at = name.rfind('@');
  if (!found.document && at != std::string::npos) {
    found.document = FindOne(catalog, kb_dir, name.substr(0, at));
    if (found.document && !found.document->sha256.starts_with(name.substr(at + 1))) {
      found.why_not = name.substr(0, at) + " has changed since it was cited as " + name.substr(at) +
                      "; kb get " + name.substr(0, at) + " gives what it says now";
      return found;
    }
  }
  const size_t hash = name.rfind('#');
  // A path may hold a '#' itself, so the whole name is tried first.
  const bool is_passage = !found.document && hash != std::string::npos;
  if (is_passage) found.document = FindOne(catalog, kb_dir, name.substr(0, hash));
  if (!found.document) {
    found.why_not = NoDocument(catalog, name);
    return found;
  }
  found.text = catalog.Text(found.document->row);
  found.chunks = catalog.Chunks(found.document->row);
  if (is_passage) NarrowTo(name.substr(hash + 1), &found);
  return found;
}

Value FoundJson(const Found& found) {
  Value::Map json = DocumentJson(*found.document);
  const int lines = static_cast<int>(SplitLines(found.text).size());
  json.emplace_back("chunk", found.chunk ? found.chunk->id : "");
  json.emplace_back("heading", found.chunk ? found.chunk->heading : "");
  json.emplace_back("lines", found.chunk ? LinesJson(*found.chunk) : Value(Value::List{1, lines}));
  json.emplace_back("text", found.text);
  if (found.chunk) return Value(std::move(json));
  Value::List list;
  for (const Chunk& chunk : found.chunks) {
    list.push_back(Value(
        Value::Map{{"chunk", chunk.id}, {"heading", chunk.heading}, {"lines", LinesJson(chunk)}}));
  }
  json.emplace_back("chunks", Value(std::move(list)));
  return Value(std::move(json));
}

}  // namespace kb
