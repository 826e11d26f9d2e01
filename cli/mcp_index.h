// The index as a long-lived server sees it: opened when first needed, and again when another
// process has written a newer one. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "indexer/retriever.h"

namespace kb {

class McpIndex {
 public:
  explicit McpIndex(std::string kb_dir) : kb_dir_(std::move(kb_dir)) {}

  // The newest generation. Throws Error if nothing is indexed.
  [[nodiscard]] Retriever& Open();

  // The same; null if there is no index folder yet.
  [[nodiscard]] Retriever* OpenIfAny();

  // Lets go of an index that is no longer the newest, so that its files can go.
  void CloseIfOutdated();

  // Grows whenever Open gives another index than before.
  [[nodiscard]] int64_t openings() const { return openings_; }
  [[nodiscard]] const std::string& kb_dir() const { return kb_dir_; }

 private:
  // Tells an index from another of the same number, written after .kb was deleted.
  struct Mark {
    uint64_t inode = 0;
    int64_t mtime_ns = 0;
    friend bool operator==(const Mark&, const Mark&) = default;
  };
  [[nodiscard]] Mark MarkOf(int64_t generation) const;

  std::string kb_dir_;
  std::unique_ptr<Retriever> retriever_;
  Mark mark_;
  int64_t openings_ = 0;
};

}  // namespace kb
