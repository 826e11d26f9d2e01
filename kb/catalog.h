// What is indexed, in SQLite: documents with their text, chunks and diagnostics. Derived
// from Markdown; rebuilt, never migrated.
//
// One writer at a time (the caller holds the folder's lock), any number of readers in any
// number of processes; a reader sees one whole generation. One object per thread; none is
// carried across fork(). Every function may throw Error (disk full, damaged catalog).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/chunk.h"
#include "kb/diagnostic.h"
#include "kb/document.h"
#include "kb/file.h"

namespace kb {

// A document as catalogued. `row` is stable while the document stays unchanged, and never
// given to another document (until the catalog is made anew).
struct CatalogDocument {
  int64_t row = 0;
  std::string root;  // the root it was found below
  std::string path;
  std::string bundle;  // folder of the SKILL.md or NNK.md it belongs to, or its path
  FileStamp stamp;
  std::string sha256;
  Kind kind = Kind::kPage;
  std::string id;
  std::string title;
  std::string description;
  Scope scope;
  std::string license;
  std::string state;
  bool blocked = false;  // catalogued with its diagnostics, but has no chunks
};

class Catalog {
 public:
  // kRead: throws Error if there is no catalog of this version; works in a folder that may
  // only be read. kWrite: creates the folder and the catalog if need be, and replaces one of
  // another version or one whose header or schema is damaged. Damage further in shows when
  // it is read (Error); Clear mends it.
  enum class Mode { kRead, kWrite };
  Catalog(const std::string& kb_dir, Mode mode);
  ~Catalog();
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;

  // Reading. All calls between BeginRead and EndRead see one generation. Strings are bytes as
  // they were put, also if they are not UTF-8.
  void BeginRead();
  void EndRead();
  [[nodiscard]] int64_t Generation();                      // 0: nothing indexed yet
  [[nodiscard]] std::string Meta(std::string_view key);    // "" if not set
  [[nodiscard]] std::vector<CatalogDocument> Documents();  // by path
  [[nodiscard]] std::optional<CatalogDocument> DocumentByRow(int64_t row);
  // By exact id or path; ids first, skills before pages.
  [[nodiscard]] std::optional<CatalogDocument> FindDocument(std::string_view id_or_path);
  [[nodiscard]] std::string Text(int64_t row);           // the whole file, as indexed
  [[nodiscard]] std::vector<Chunk> Chunks(int64_t row);  // in order
  [[nodiscard]] std::optional<Chunk> ChunkByOrdinal(int64_t row, int ordinal);
  [[nodiscard]] Diagnostics AllDiagnostics();  // by path and line

  // Writing: one transaction; without Commit nothing of it stays. BeginWrite drops what an
  // earlier one left uncommitted. Waits up to 5 s for another writer, then throws.
  void BeginWrite();
  // Forgets everything. Readers see that with Commit, unless the catalog is too damaged to
  // be read: then it is replaced at once.
  void Clear();
  // Returns the new row. Replaces a document of the same path.
  int64_t Put(const CatalogDocument& document, std::string_view text,
              const std::vector<Chunk>& chunks, const Diagnostics& diagnostics);
  void Touch(int64_t row, const FileStamp& stamp);  // same content, new stamp
  void Remove(int64_t row);
  // Findings about files that could not become documents; replaces all such.
  void PutScanDiagnostics(const Diagnostics& diagnostics);
  void SetMeta(std::string_view key, std::string_view value);
  void Commit(int64_t generation);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
