#include "kb/catalog.h"

#include <filesystem>

#include "kb/catalog_rows.h"
#include "kb/catalog_schema.h"
#include "kb/error.h"
#include "kb/sqlite.h"

namespace kb {
namespace {

// Generation and metadata share a table; this key is not for callers.
constexpr char kGenerationKey[] = "kb:generation";

}  // namespace

struct Catalog::Rep {
  std::string path;
  Mode mode = Mode::kRead;
  std::unique_ptr<Database> database;
  FileStamp stamp;  // when opened for reading
  bool reading = false;

  void Open() {
    database.reset();
    stamp = CatalogStamp(path);
    database = mode == Mode::kRead ? OpenCatalogToRead(path) : OpenCatalogToWrite(path);
  }

  Database& Db() const {
    if (!database) throw Error("catalog " + path + ": could not be opened again: start kb anew");
    return *database;
  }

  void Rollback() {
    reading = false;
    if (database && database->InTransaction()) database->Run("ROLLBACK");
  }

  // Runs a part of the write transaction; if it fails, nothing of the transaction stays.
  template <typename Action>
  void Write(const char* function, const Action& action) {
    if (reading || !Db().InTransaction()) {
      throw Error("catalog " + path + ": " + function + " without BeginWrite");
    }
    try {
      action();
    } catch (const Error&) {
      Rollback();
      throw;
    }
  }

  void SetMeta(std::string_view key, std::string_view value) {
    SqlQuery query(Db(), "INSERT OR REPLACE INTO meta VALUES(?,?)");
    query.BindText(key).BindText(value).Run();
  }

  std::string Meta(std::string_view key) {
    SqlQuery query(Db(), "SELECT value FROM meta WHERE key=?");
    return query.BindText(key).Next() ? query.Text(0) : "";
  }

  int64_t Generation() {
    SqlQuery query(Db(), "SELECT CAST(value AS INTEGER) FROM meta WHERE key=?");
    return query.BindText(kGenerationKey).Next() ? query.Int(0) : 0;
  }

  // False if that cannot be done, or not be trusted.
  bool DeleteAll() {
    try {
      Db().Run(
          "DELETE FROM meta; DELETE FROM document; DELETE FROM text; DELETE FROM chunk;"
          "DELETE FROM diagnostic");
      SqlQuery check(Db(), "PRAGMA quick_check(1)");  // fast: the tables are empty
      return check.Next() && check.Text(0) == "ok";
    } catch (const Error&) {
      if (!Db().FailedByDamage()) throw;
      return false;
    }
  }
};

Catalog::Catalog(const std::string& kb_dir, Mode mode) : rep_(std::make_unique<Rep>()) {
  rep_->path = kb_dir + "/catalog.sqlite";
  rep_->mode = mode;
  if (mode == Mode::kWrite) {
    std::error_code error;
    std::filesystem::create_directories(kb_dir, error);
    if (error) throw Error("folder " + kb_dir + ": cannot be made: " + error.message());
  }
  rep_->Open();
}

Catalog::~Catalog() = default;
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;

// The first read of a transaction decides which generation it sees. A catalog opened as one
// that nobody writes is opened anew if somebody with more rights has written it.
void Catalog::BeginRead() {
  if (rep_->Db().InTransaction()) return;
  if (rep_->Db().IsImmutable() && rep_->stamp != CatalogStamp(rep_->path)) rep_->Open();
  rep_->Db().Run("BEGIN");
  rep_->reading = true;
  try {
    (void)Generation();
  } catch (const Error&) {
    rep_->Rollback();
    throw;
  }
}

void Catalog::EndRead() {
  if (rep_->reading) rep_->Rollback();
}

int64_t Catalog::Generation() { return rep_->Generation(); }
std::string Catalog::Meta(std::string_view key) { return rep_->Meta(key); }

std::vector<CatalogDocument> Catalog::Documents() {
  std::vector<CatalogDocument> documents;
  SqlQuery query(rep_->Db(), "SELECT * FROM document ORDER BY path");
  while (query.Next()) documents.push_back(ReadDocument(query));
  return documents;
}

std::optional<CatalogDocument> Catalog::DocumentByRow(int64_t row) {
  SqlQuery query(rep_->Db(), "SELECT * FROM document WHERE row=?");
  if (!query.Bind(row).Next()) return std::nullopt;
  return ReadDocument(query);
}

std::optional<CatalogDocument> Catalog::FindDocument(std::string_view id_or_path) {
  SqlQuery query(rep_->Db(),
                 "SELECT * FROM document WHERE id=?1 OR path=?1"
                 " ORDER BY id=?1 DESC, kind, path LIMIT 1");
  if (!query.BindText(id_or_path).Next()) return std::nullopt;
  return ReadDocument(query);
}

std::string Catalog::Text(int64_t row) {
  SqlQuery query(rep_->Db(), "SELECT bytes FROM text WHERE row=?");
  return query.Bind(row).Next() ? query.Text(0) : "";
}

std::vector<Chunk> Catalog::Chunks(int64_t row) {
  std::vector<Chunk> chunks;
  SqlQuery query(rep_->Db(),
                 "SELECT chunk.*, length(bytes) FROM chunk LEFT JOIN text USING(row)"
                 " WHERE chunk.row=? ORDER BY ordinal");
  query.Bind(row);
  while (query.Next()) chunks.push_back(ReadChunk(query, rep_->path));
  return chunks;
}

std::optional<Chunk> Catalog::ChunkByOrdinal(int64_t row, int ordinal) {
  SqlQuery query(rep_->Db(),
                 "SELECT chunk.*, length(bytes) FROM chunk LEFT JOIN text USING(row)"
                 " WHERE chunk.row=? AND ordinal=?");
  if (!query.Bind(row).Bind(ordinal).Next()) return std::nullopt;
  return ReadChunk(query, rep_->path);
}

Diagnostics Catalog::AllDiagnostics() {
  Diagnostics diagnostics;
  SqlQuery query(rep_->Db(), "SELECT * FROM diagnostic ORDER BY path, line, rowid");
  while (query.Next()) diagnostics.push_back(ReadDiagnostic(query));
  return diagnostics;
}

void Catalog::BeginWrite() {
  if (rep_->mode == Mode::kRead) {
    throw Error("catalog " + rep_->path + ": opened for reading, so BeginWrite cannot be had");
  }
  rep_->Rollback();
  rep_->Db().Run("BEGIN IMMEDIATE");
}

void Catalog::Clear() {
  rep_->Write("Clear", [&] {
    if (rep_->DeleteAll()) return;
    rep_->database.reset();
    RemoveCatalog(rep_->path);
    rep_->Open();
    rep_->Db().Run("BEGIN IMMEDIATE");
  });
}

int64_t Catalog::Put(const CatalogDocument& document, std::string_view text,
                     const std::vector<Chunk>& chunks, const Diagnostics& diagnostics) {
  int64_t row = 0;
  rep_->Write("Put", [&] {
    {
      SqlQuery old(rep_->Db(), "SELECT row FROM document WHERE path=?");
      if (old.BindText(document.path).Next()) DeleteDocument(rep_->Db(), old.Int(0));
    }
    row = InsertDocument(rep_->Db(), document);
    SqlQuery(rep_->Db(), "INSERT INTO text VALUES(?,?)").Bind(row).BindBlob(text).Run();
    InsertChunks(rep_->Db(), row, chunks);
    InsertDiagnostics(rep_->Db(), row, diagnostics);
  });
  return row;
}

void Catalog::Touch(int64_t row, const FileStamp& stamp) {
  rep_->Write("Touch", [&] {
    SqlQuery query(rep_->Db(), "UPDATE document SET size_bytes=?, mtime_ns=?, inode=? WHERE row=?");
    query.Bind(stamp.size_bytes).Bind(stamp.mtime_ns).Bind(stamp.inode).Bind(row).Run();
  });
}

void Catalog::Remove(int64_t row) {
  rep_->Write("Remove", [&] { DeleteDocument(rep_->Db(), row); });
}

void Catalog::PutScanDiagnostics(const Diagnostics& diagnostics) {
  rep_->Write("PutScanDiagnostics", [&] {
    SqlQuery(rep_->Db(), "DELETE FROM diagnostic WHERE row=0").Run();
    InsertDiagnostics(rep_->Db(), 0, diagnostics);
  });
}

void Catalog::SetMeta(std::string_view key, std::string_view value) {
  rep_->Write("SetMeta", [&] { rep_->SetMeta(key, value); });
}

void Catalog::Commit(int64_t generation) {
  rep_->Write("Commit", [&] {
    rep_->SetMeta(kGenerationKey, std::to_string(generation));
    rep_->Db().Run("COMMIT");
  });
}

}  // namespace kb
