// Reads files for the index on several threads and gives their terms one numbering.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/prepare.h"
#include "indexer/snapshot.h"
#include "indexer/tokenizer.h"

namespace kb {

struct ReadRequest {
  std::string file;  // where to read it
  std::string path;  // its name in the catalog
  std::string bundle;
  std::string sha256;  // of its content when it was last indexed; "" if it was not
};

struct ReadResult {
  bool same = false;                         // the content is what it was
  std::optional<PreparedDocument> prepared;  // none if same or unreadable
  Diagnostics diagnostics;                   // why it could not be read
};

class DocumentReader {
 public:
  // Term ids go on from those of `old` (may be null), which must outlive this.
  DocumentReader(const Snapshot* old, int threads, bool allow_suppressed);

  // In the order of the requests.
  [[nodiscard]] std::vector<ReadResult> Read(std::span<const ReadRequest> requests);

  // Frees what only reading needs. Read must not be called after it.
  void Finish() { workers_ = {}; }

  // All terms by id: those of `old`, then the new ones.
  [[nodiscard]] std::vector<std::string_view> Terms() const;

 private:
  struct Worker {
    Tokenizer tokenizer;
    TermTable table;
    std::vector<TermId> to_global;
  };

  void ReadOne(const ReadRequest& request, Worker* worker, ReadResult* result) const;
  [[nodiscard]] TermId GlobalId(const std::string& term);
  void GiveGlobalIds(Worker* worker, DocumentTerms* terms);

  const Snapshot* old_;
  bool allow_suppressed_;
  std::vector<Worker> workers_;
  TermTable added_;
};

}  // namespace kb
