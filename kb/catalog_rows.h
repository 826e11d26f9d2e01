// Documents, chunks and diagnostics as rows of the catalog's tables. Private to the catalog.
// The readers take the current row of a "SELECT *" and believe no number in it blindly: a
// damaged catalog is an Error, not a range outside its text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kb/catalog.h"
#include "kb/sqlite.h"

namespace kb {

[[nodiscard]] CatalogDocument ReadDocument(SqlQuery& query);
// Behind the chunk's columns: the size of its document's text. `file` is named in errors.
[[nodiscard]] Chunk ReadChunk(SqlQuery& query, const std::string& file);
[[nodiscard]] Diagnostic ReadDiagnostic(SqlQuery& query);

// Returns the new row.
int64_t InsertDocument(Database& database, const CatalogDocument& document);
void InsertChunks(Database& database, int64_t row, const std::vector<Chunk>& chunks);
// Row 0: findings about files that could not become documents.
void InsertDiagnostics(Database& database, int64_t row, const Diagnostics& diagnostics);
// With its text, chunks and diagnostics.
void DeleteDocument(Database& database, int64_t row);

}  // namespace kb
