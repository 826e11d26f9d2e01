// Makes a file ready for the index: parse, safety gate, passages, term rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/terms.h"
#include "indexer/tokenizer.h"
#include "kb/catalog.h"
#include "kb/chunk.h"
#include "kb/document.h"

namespace kb {

struct PreparedDocument {
  CatalogDocument document;  // without stamp and row
  std::string text;
  std::vector<Chunk> chunks;  // none if blocked
  Diagnostics diagnostics;    // of parsing and of the safety rules
  DocumentTerms terms;        // ids of the TermTable given
};

struct PrepareInput {
  std::string path;    // the name in the catalog
  std::string bundle;  // its bundle's folder, or the path itself
  std::string text;
  bool allow_suppressed = false;  // IngestOptions::allow_suppressed
};

[[nodiscard]] PreparedDocument PrepareDocument(PrepareInput input, Tokenizer* tokenizer,
                                               TermTable* table);

// Replaces ids of one table by those of another: id becomes map[id].
void Renumber(const std::vector<TermId>& map, DocumentTerms* terms);

// True for the file that speaks for its bundle: SKILL.md or NNK.md in it, or a lone document.
[[nodiscard]] bool IsMainDocument(std::string_view path, std::string_view bundle);

// True for SKILL.md and NNK.md (any case): their folder is a bundle.
[[nodiscard]] bool IsBundleIndex(std::string_view path);

}  // namespace kb
