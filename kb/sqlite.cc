#include "kb/sqlite.h"

#include <sqlite3.h>

#include <string>
#include <unordered_map>

#include "kb/error.h"

namespace kb {
namespace {

// Percent-encodes all but plain bytes, so that no byte of a path means something in a URI.
std::string FileUri(std::string_view path, bool immutable) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  for (unsigned char c : path) {
    bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 c == '/' || c == '.' || c == '-' || c == '_';
    if (plain) {
      uri += static_cast<char>(c);
    } else {
      uri += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return uri + (immutable ? "?immutable=1" : "");
}

struct Mending {
  int code;  // SQLite's primary result code
  const char* mend;
};
constexpr Mending kMendings[] = {
    {SQLITE_NOTADB, "it is damaged; run kb index --rebuild"},
    {SQLITE_CORRUPT, "it is damaged; run kb index --rebuild"},
    {SQLITE_ERROR, "it is not as kb makes it; run kb index --rebuild"},
    {SQLITE_FULL, "nothing was changed; free some disk space and try again"},
    {SQLITE_IOERR, "nothing was changed; see that the disk has space and is sound, and try again"},
    {SQLITE_BUSY, "another kb process is writing; try again when it is done"},
    {SQLITE_CANTOPEN, "see that the folder exists and may be read and written"},
    {SQLITE_PERM, "see that the folder may be read and written"},
    {SQLITE_READONLY, "see that the folder may be written"},
};

const char* Mend(int code) {
  for (const Mending& mending : kMendings) {
    if (mending.code == (code & 0xff)) return mending.mend;
  }
  return "try kb index --rebuild";
}

}  // namespace

struct Database::Rep {
  std::string path;
  Mode mode = Mode::kRead;
  sqlite3* connection = nullptr;
  std::unordered_map<const char*, sqlite3_stmt*> statements;  // by the literal's address
  int failure = SQLITE_OK;

  ~Rep() {
    for (auto& [sql, statement] : statements) sqlite3_finalize(statement);
    sqlite3_close_v2(connection);  // rolls back what is not committed
  }

  [[noreturn]] void Fail(int code) {
    failure = code & 0xff;
    std::string why = connection != nullptr && sqlite3_errcode(connection) != SQLITE_OK
                          ? sqlite3_errmsg(connection)
                          : sqlite3_errstr(code);
    throw Error("catalog " + path + ": " + why + ": " + Mend(code));
  }

  void Check(int code) {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE) Fail(code);
  }
};

Database::Database(const std::string& path, Mode mode) : rep_(std::make_unique<Rep>()) {
  rep_->path = path;
  rep_->mode = mode;
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  std::string uri = FileUri(path, mode == Mode::kImmutable);
  rep_->Check(sqlite3_open_v2(uri.c_str(), &rep_->connection, flags, nullptr));
  sqlite3_busy_timeout(rep_->connection, 5000);
  // The file may come with somebody's clone: its schema gets no say beyond our tables.
  sqlite3_db_config(rep_->connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(rep_->connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(rep_->connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(rep_->connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

Database::~Database() = default;

void Database::Run(const char* sql) {
  rep_->Check(sqlite3_exec(rep_->connection, sql, nullptr, nullptr, nullptr));
}

bool Database::IsImmutable() const { return rep_->mode == Mode::kImmutable; }

bool Database::InTransaction() const { return sqlite3_get_autocommit(rep_->connection) == 0; }

int64_t Database::LastInsertedRow() const { return sqlite3_last_insert_rowid(rep_->connection); }

bool Database::FailedByDamage() const {
  int code = rep_->failure;
  return code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
}

bool Database::FailedToOpen() const {
  return rep_->failure == SQLITE_CANTOPEN || rep_->failure == SQLITE_READONLY ||
         rep_->failure == SQLITE_IOERR || rep_->failure == SQLITE_FULL;
}

SqlQuery::SqlQuery(Database& database, const char* sql) : database_(database) {
  sqlite3_stmt*& kept = database.rep_->statements[sql];
  if (kept == nullptr) {
    Check(sqlite3_prepare_v3(database.rep_->connection, sql, -1, SQLITE_PREPARE_PERSISTENT, &kept,
                             nullptr));
  }
  statement_ = kept;
}

SqlQuery::~SqlQuery() {
  auto* statement = static_cast<sqlite3_stmt*>(statement_);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

void SqlQuery::Check(int code) { database_.rep_->Check(code); }

SqlQuery& SqlQuery::Bind(int64_t value) {
  Check(sqlite3_bind_int64(static_cast<sqlite3_stmt*>(statement_), ++bound_, value));
  return *this;
}

// A null pointer would bind NULL: the empty string needs an address.
SqlQuery& SqlQuery::BindText(std::string_view value) {
  Check(sqlite3_bind_text64(static_cast<sqlite3_stmt*>(statement_), ++bound_,
                            value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
  return *this;
}

SqlQuery& SqlQuery::BindBlob(std::string_view value) {
  Check(sqlite3_bind_blob64(static_cast<sqlite3_stmt*>(statement_), ++bound_,
                            value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC));
  return *this;
}

bool SqlQuery::Next() {
  int code = sqlite3_step(static_cast<sqlite3_stmt*>(statement_));
  Check(code);
  return code == SQLITE_ROW;
}

void SqlQuery::Run() {
  while (Next()) {
  }
}

int64_t SqlQuery::Int(int column) {
  return sqlite3_column_int64(static_cast<sqlite3_stmt*>(statement_), column);
}

std::string SqlQuery::Text(int column) {
  auto* statement = static_cast<sqlite3_stmt*>(statement_);
  const void* bytes = sqlite3_column_blob(statement, column);
  int size = sqlite3_column_bytes(statement, column);
  return bytes == nullptr ? "" : std::string(static_cast<const char*>(bytes), size);
}

}  // namespace kb
