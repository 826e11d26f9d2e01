#include "kb/catalog_rows.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "kb/error.h"

namespace kb {
namespace {

// A list of strings as one column: each with its length in front ("2:ab0:"), so that any
// byte may be in it.
std::string PackList(const std::vector<std::string>& list) {
  std::string packed;
  for (const std::string& item : list) packed += std::to_string(item.size()) + ":" + item;
  return packed;
}

// Stops where the text is not of that form.
std::vector<std::string> UnpackList(std::string_view packed) {
  std::vector<std::string> list;
  while (!packed.empty()) {
    size_t size = 0;
    auto [end, error] = std::from_chars(packed.data(), packed.data() + packed.size(), size);
    size_t digits = static_cast<size_t>(end - packed.data());
    if (error != std::errc() || digits == packed.size() || *end != ':') break;
    packed.remove_prefix(digits + 1);
    if (size > packed.size()) break;
    list.emplace_back(packed.substr(0, size));
    packed.remove_prefix(size);
  }
  return list;
}

}  // namespace

// Columns as the tables have them.
CatalogDocument ReadDocument(SqlQuery& query) {
  CatalogDocument document;
  document.row = query.Int(0);
  document.path = query.Text(1);
  document.root = query.Text(2);
  document.bundle = query.Text(3);
  document.stamp = {query.Int(4), query.Int(5), query.Int(6)};
  document.sha256 = query.Text(7);
  int64_t kind = query.Int(8);
  bool known = kind >= 0 && kind <= static_cast<int64_t>(Kind::kPage);
  document.kind = known ? static_cast<Kind>(kind) : Kind::kPage;
  document.id = query.Text(9);
  document.title = query.Text(10);
  document.description = query.Text(11);
  document.scope = {query.Text(12), query.Text(13), UnpackList(query.Text(14)), query.Text(15),
                    UnpackList(query.Text(16))};
  document.license = query.Text(17);
  document.state = query.Text(18);
  document.blocked = query.Int(19) != 0;
  return document;
}

// Columns 2.. of the table chunk, then the size of the document's text.
Chunk ReadChunk(SqlQuery& query, const std::string& file) {
  Chunk chunk;
  chunk.id = query.Text(2);
  chunk.heading = query.Text(3);
  chunk.first_line = static_cast<int>(query.Int(4));
  chunk.last_line = static_cast<int>(query.Int(5));
  chunk.begin = query.Int(6);
  chunk.end = query.Int(7);
  if (chunk.begin < 0 || chunk.end < chunk.begin || chunk.end > query.Int(8)) {
    throw Error("catalog " + file + ": a passage lies outside its document: it is damaged; run " +
                "kb index --rebuild");
  }
  return chunk;
}

Diagnostic ReadDiagnostic(SqlQuery& query) {
  int64_t severity = std::clamp<int64_t>(query.Int(1), 0, static_cast<int64_t>(Severity::kBlock));
  return {static_cast<Severity>(severity), query.Text(2), query.Text(3),
          static_cast<int>(query.Int(4)),  query.Text(5), query.Text(6)};
}

void DeleteDocument(Database& database, int64_t row) {
  SqlQuery(database, "DELETE FROM document WHERE row=?").Bind(row).Run();
  SqlQuery(database, "DELETE FROM text WHERE row=?").Bind(row).Run();
  SqlQuery(database, "DELETE FROM chunk WHERE row=?").Bind(row).Run();
  SqlQuery(database, "DELETE FROM diagnostic WHERE row=?").Bind(row).Run();
}

int64_t InsertDocument(Database& database, const CatalogDocument& document) {
  SqlQuery query(database,
                 "INSERT INTO document VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  std::string dtypes = PackList(document.scope.dtypes);
  std::string topics = PackList(document.scope.topics);
  query.BindText(document.path).BindText(document.root).BindText(document.bundle);
  query.Bind(document.stamp.size_bytes).Bind(document.stamp.mtime_ns);
  query.Bind(document.stamp.inode).BindText(document.sha256);
  query.Bind(static_cast<int64_t>(document.kind)).BindText(document.id);
  query.BindText(document.title).BindText(document.description);
  query.BindText(document.scope.arch).BindText(document.scope.cuda).BindText(dtypes);
  query.BindText(document.scope.bound).BindText(topics).BindText(document.license);
  query.BindText(document.state).Bind(document.blocked ? 1 : 0).Run();
  return database.LastInsertedRow();
}

void InsertChunks(Database& database, int64_t row, const std::vector<Chunk>& chunks) {
  int64_t ordinal = 0;
  for (const Chunk& chunk : chunks) {
    SqlQuery query(database, "INSERT INTO chunk VALUES(?,?,?,?,?,?,?,?)");
    query.Bind(row).Bind(ordinal++).BindText(chunk.id).BindText(chunk.heading);
    query.Bind(chunk.first_line).Bind(chunk.last_line).Bind(chunk.begin).Bind(chunk.end).Run();
  }
}

void InsertDiagnostics(Database& database, int64_t row, const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    SqlQuery query(database, "INSERT INTO diagnostic VALUES(?,?,?,?,?,?,?)");
    query.Bind(row).Bind(static_cast<int64_t>(diagnostic.severity)).BindText(diagnostic.rule);
    query.BindText(diagnostic.path).Bind(diagnostic.line).BindText(diagnostic.message);
    query.BindText(diagnostic.mend).Run();
  }
}

}  // namespace kb
