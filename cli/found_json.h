// A document or passage looked up by name, and how it looks in JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kb/catalog.h"
#include "kb/value.h"

namespace kb {

struct Found {
  std::optional<CatalogDocument> document;
  std::optional<Chunk> chunk;  // the passage, if one was named
  std::string text;            // of the passage, else of the document, as indexed
  std::vector<Chunk> chunks;   // of the document
  std::string why_not;         // nothing found: one printable line with the nearest; else ""
};

// `name`: an id, a path as catalogued or from the working folder; "ID#CHUNK" for a passage.
[[nodiscard]] Found FindNamed(Catalog& catalog, const std::string& kb_dir, const std::string& name);

// DocumentJson and {chunk, heading, lines: [first, last], text}; for a whole document chunk
// and heading are "" and `chunks` lists [{chunk, heading, lines}...]. Only of what was found.
[[nodiscard]] Value FoundJson(const Found& found);

}  // namespace kb
