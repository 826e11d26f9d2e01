#include "kb/catalog_schema.h"

#include <sys/stat.h>

#include <filesystem>

#include "kb/error.h"

namespace kb {
namespace {

constexpr int64_t kApplication = 0x6b622e31;  // "kb.1", SQLite's application_id
constexpr int64_t kVersion = 1;               // SQLite's user_version

// AUTOINCREMENT: a row is never given again, so what refers to rows (the snapshot) finds the
// right document or none. Texts have a table of their own: listing documents reads none.
std::string Schema() {
  return "BEGIN IMMEDIATE;"
         "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
         "CREATE TABLE document(row INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE,"
         " root TEXT, bundle TEXT, size_bytes INTEGER, mtime_ns INTEGER, inode INTEGER,"
         " sha256 TEXT, kind INTEGER, id TEXT, title TEXT, description TEXT, arch TEXT,"
         " cuda TEXT, dtypes TEXT, bound TEXT, topics TEXT, license TEXT, state TEXT,"
         " blocked INTEGER);"
         "CREATE INDEX document_id ON document(id);"
         "CREATE TABLE text(row INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
         "CREATE TABLE chunk(row INTEGER, ordinal INTEGER, id TEXT, heading TEXT,"
         " first_line INTEGER, last_line INTEGER, begin INTEGER, end INTEGER,"
         " PRIMARY KEY(row, ordinal)) WITHOUT ROWID;"
         "CREATE TABLE diagnostic(row INTEGER, severity INTEGER, rule TEXT, path TEXT,"
         " line INTEGER, message TEXT, mend TEXT);"
         "CREATE INDEX diagnostic_row ON diagnostic(row);"
         "PRAGMA application_id=" +
         std::to_string(kApplication) + ";PRAGMA user_version=" + std::to_string(kVersion) +
         ";COMMIT;";
}

int64_t OneNumber(Database& database, const char* sql) {
  SqlQuery query(database, sql);
  return query.Next() ? query.Int(0) : 0;
}

enum class Version { kOurs, kNone, kOther };

Version VersionOf(Database& database) {
  int64_t application = OneNumber(database, "PRAGMA application_id");
  int64_t version = OneNumber(database, "PRAGMA user_version");
  if (application == kApplication && version == kVersion) return Version::kOurs;
  bool empty = application == 0 && version == 0 &&
               OneNumber(database, "SELECT count(*) FROM sqlite_schema") == 0;
  return empty ? Version::kNone : Version::kOther;
}

[[noreturn]] void ThrowNotIndexed(const std::string& path) {
  throw Error("catalog " + path + ": nothing is indexed here yet: run kb index PATH...");
}

void CheckVersion(const std::string& path, Database& database) {
  Version version = VersionOf(database);
  if (version == Version::kNone) ThrowNotIndexed(path);
  if (version == Version::kOther) {
    throw Error("catalog " + path + ": made by another version of kb: run kb index --rebuild");
  }
}

// synchronous=NORMAL: a commit is appended to the -wal file without a sync, and synced before
// it is copied into the catalog. A power cut can lose the last commits, never half of one:
// the index is then older than its sources and the next kb index brings it up to date.
std::unique_ptr<Database> OpenOurs(const std::string& path) {
  auto database = std::make_unique<Database>(path, Database::Mode::kWrite);
  try {
    database->Run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
    database->Run("PRAGMA journal_size_limit=4194304; PRAGMA cache_size=-8192");
    Version version = VersionOf(*database);
    if (version == Version::kOther) return nullptr;
    if (version == Version::kNone) database->Run(Schema().c_str());
    SqlQuery(*database, "SELECT 1 FROM meta, document, text, chunk, diagnostic LIMIT 0").Run();
  } catch (const Error&) {
    if (!database->FailedByDamage()) throw;
    return nullptr;
  }
  return database;
}

}  // namespace

FileStamp CatalogStamp(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
          static_cast<int64_t>(status.st_ino)};
}

// WAL mode needs a file beside the catalog, even to read. Where that cannot be made, nobody
// of our rights writes either, and with no -wal file left the catalog is whole by itself.
std::unique_ptr<Database> OpenCatalogToRead(const std::string& path) {
  if (CatalogStamp(path) == FileStamp{}) ThrowNotIndexed(path);
  auto database = std::make_unique<Database>(path, Database::Mode::kRead);
  try {
    CheckVersion(path, *database);
  } catch (const Error&) {
    if (!database->FailedToOpen() || CatalogStamp(path + "-wal").size_bytes > 0) throw;
    database = std::make_unique<Database>(path, Database::Mode::kImmutable);
    CheckVersion(path, *database);
  }
  database->Run("PRAGMA mmap_size=268435456");  // spares a copy of each page read
  return database;
}

// The -wal file goes first: it never outlives its catalog.
void RemoveCatalog(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", ""}) {
    std::error_code error;
    std::filesystem::remove(path + suffix, error);
    if (error) {
      throw Error("catalog " + path + suffix + ": cannot be replaced: " + error.message() +
                  ": remove it by hand");
    }
  }
}

std::unique_ptr<Database> OpenCatalogToWrite(const std::string& path) {
  if (auto database = OpenOurs(path)) return database;
  RemoveCatalog(path);
  if (auto database = OpenOurs(path)) return database;
  throw Error("catalog " + path + ": damaged as soon as it was made: check the disk");
}

}  // namespace kb
