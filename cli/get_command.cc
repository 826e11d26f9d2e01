// kb get. With --json: DocumentJson and {chunk, heading, lines: [first, last], text}; for a
// whole document chunk and heading are "" and `chunks` lists [{chunk, heading, lines}...].
#include <algorithm>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "cli/document_json.h"
#include "cli/place.h"
#include "cli/run_commands.h"
#include "kb/catalog.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/markdown.h"

namespace kb {
namespace {

// What was asked for: a document and, if the name ends in "#CHUNK", that chunk's id.
struct Found {
  std::optional<CatalogDocument> document;
  std::string chunk_id;
};

// By id, by path as catalogued, or by path from the working folder.
std::optional<CatalogDocument> FindOne(Catalog& catalog, const std::string& kb_dir,
                                       const std::string& name) {
  auto found = catalog.FindDocument(name);
  return found ? found : catalog.FindDocument(CataloguedPath(kb_dir, name));
}

// A path may hold a '#' itself, so the whole name is tried first.
Found Find(Catalog& catalog, const std::string& kb_dir, const std::string& name) {
  Found found = {FindOne(catalog, kb_dir, name), ""};
  const size_t hash = name.rfind('#');
  if (found.document || hash == std::string::npos) return found;
  return {FindOne(catalog, kb_dir, name.substr(0, hash)), name.substr(hash + 1)};
}

void SayUnknown(Catalog& catalog, const std::string& name, Streams& streams) {
  std::vector<std::string> known;
  for (const CatalogDocument& document : catalog.Documents()) {
    known.push_back(document.id);
    if (document.path != document.id) known.push_back(document.path);
  }
  const std::string nearest = Nearest(name.substr(0, name.rfind('#')), known);
  streams.talk << "kb get: no document " << Printable("'" + name + "'");
  streams.talk << (nearest.empty() ? "; kb search finds one by its content"
                                   : "; did you mean " + Printable(nearest) + "?");
  streams.talk << '\n';
}

void SayUnknownChunk(const Found& found, const std::vector<Chunk>& chunks, Streams& streams) {
  streams.talk << "kb get: " << Printable(found.document->id) << " has no passage "
               << Printable("'" + found.chunk_id + "'");
  if (!chunks.empty()) streams.talk << "; its first is " << chunks.front().id;
  streams.talk << '\n';
}

Value LinesJson(const Chunk& chunk) {
  return Value(Value::List{chunk.first_line, chunk.last_line});
}

Value DocumentText(const CatalogDocument& document, const std::string& text,
                   const std::vector<Chunk>& chunks) {
  Value::List list;
  for (const Chunk& chunk : chunks) {
    list.push_back(Value(
        Value::Map{{"chunk", chunk.id}, {"heading", chunk.heading}, {"lines", LinesJson(chunk)}}));
  }
  Value::Map json = DocumentJson(document);
  const int lines = static_cast<int>(SplitLines(text).size());
  json.emplace_back("chunk", "");
  json.emplace_back("heading", "");
  json.emplace_back("lines", Value(Value::List{1, lines}));
  json.emplace_back("text", text);
  json.emplace_back("chunks", Value(std::move(list)));
  return Value(std::move(json));
}

Value PassageText(const CatalogDocument& document, const std::string& text, const Chunk& chunk) {
  Value::Map json = DocumentJson(document);
  json.emplace_back("chunk", chunk.id);
  json.emplace_back("heading", chunk.heading);
  json.emplace_back("lines", LinesJson(chunk));
  json.emplace_back("text", text);
  return Value(std::move(json));
}

// Byte-exact to a pipe; on a terminal control characters are escaped.
void Print(std::string_view text, Streams& streams) {
  if (!streams.out_is_terminal) {
    streams.out << text;
    return;
  }
  for (size_t stop; !text.empty(); text.remove_prefix(stop)) {
    stop = std::min(text.find_first_of("\n\t"), text.size());
    streams.out << Printable(text.substr(0, stop));
    if (stop < text.size()) streams.out << text[stop++];
  }
}

// Bounds against a catalog whose chunk and text do not belong together.
std::string Cut(const std::string& text, const Chunk& chunk) {
  const auto size = static_cast<int64_t>(text.size());
  const int64_t begin = std::clamp<int64_t>(chunk.begin, 0, size);
  const int64_t end = std::clamp<int64_t>(chunk.end, begin, size);
  return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

int PrintChunk(const Found& found, const std::string& text, const std::vector<Chunk>& chunks,
               bool json, Streams& streams) {
  for (const Chunk& chunk : chunks) {
    if (chunk.id != found.chunk_id) continue;
    const std::string passage = Cut(text, chunk);
    if (json) {
      streams.out << WriteJson(PassageText(*found.document, passage, chunk), 2) << '\n';
    } else {
      Print(passage, streams);
    }
    return kFound;
  }
  SayUnknownChunk(found, chunks, streams);
  return kNothing;
}

}  // namespace

int RunGet(const Args& args, Streams& streams) {
  const std::string name = args.Get("DOCUMENT");
  const std::string kb_dir = FindKbDir(args);
  Catalog catalog(kb_dir, Catalog::Mode::kRead);
  catalog.BeginRead();
  const Found found = Find(catalog, kb_dir, name);
  if (!found.document) {
    SayUnknown(catalog, name, streams);
    return kNothing;
  }
  const std::string text = catalog.Text(found.document->row);
  const std::vector<Chunk> chunks = catalog.Chunks(found.document->row);
  const bool json = args.Has("--json");
  if (!found.chunk_id.empty()) return PrintChunk(found, text, chunks, json, streams);
  if (json) {
    streams.out << WriteJson(DocumentText(*found.document, text, chunks), 2) << '\n';
  } else {
    Print(text, streams);
  }
  return kFound;
}

}  // namespace kb
