// A connection to a SQLite file and its queries, without SQLite's types. Private to the
// catalog. The only place that includes sqlite3. One thread; not carried across fork().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kb {

class Database {
 public:
  // kRead: never writes to the file. kImmutable: the same, and trusts that nobody else
  // writes, so that it needs no -shm file beside it; only for folders that cannot be
  // written. kWrite: creates the file if need be.
  enum class Mode { kRead, kImmutable, kWrite };
  Database(const std::string& path, Mode mode);  // throws Error
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs statements that have neither values nor rows. Throws Error.
  void Run(const char* sql);
  [[nodiscard]] bool IsImmutable() const;
  [[nodiscard]] bool InTransaction() const;
  [[nodiscard]] int64_t LastInsertedRow() const;

  // Why the last Error was thrown.
  [[nodiscard]] bool FailedByDamage() const;  // no database, or not with the tables we know
  [[nodiscard]] bool FailedToOpen() const;    // or to write beside the file (rights, room)

 private:
  friend class SqlQuery;
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// One run of a statement. The statement is compiled at its first use and kept by the
// connection, so `sql` is a literal, and at most one SqlQuery of it is alive at a time.
class SqlQuery {
 public:
  SqlQuery(Database& database, const char* sql);  // throws Error, as Next does
  ~SqlQuery();  // ends the run: lets go of locks and of bound values
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;

  // The next `?` of the statement. `value` is not copied: it outlives the query.
  SqlQuery& Bind(int64_t value);
  SqlQuery& BindText(std::string_view value);
  SqlQuery& BindBlob(std::string_view value);

  bool Next();  // false: no further row
  void Run();   // to its end

  // Of the current row; columns from 0. A column of another type is converted or empty.
  [[nodiscard]] int64_t Int(int column);
  [[nodiscard]] std::string Text(int column);

 private:
  void Check(int code);
  Database& database_;
  void* statement_;
  int bound_ = 0;
};

}  // namespace kb
