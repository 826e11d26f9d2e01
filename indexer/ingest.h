// Brings `.kb/` up to date with the Markdown below its roots. Incremental by SHA-256,
// crash-safe, safe against a second process doing the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kb/diagnostic.h"

namespace kb {

struct IngestOptions {
  std::vector<std::string> roots;  // folders or files; empty: those of the last run
  std::string embedder = "lsa";    // "lsa", "model2vec:FOLDER", "http:URL#MODEL", "none"
  bool rebuild = false;            // forget everything first
  // Index documents that allow their own blocking findings by a suppression. Off: whoever wrote
  // the document must not be the one who waives its safety.
  bool allow_suppressed = false;
  int threads = 2;
  // done and total of the phase named, e.g. ("read", 120, 1477); may be null.
  std::function<void(const char* phase, int64_t done, int64_t total)> progress;
};

struct IngestReport {
  int64_t generation = 0;
  int documents = 0, chunks = 0;  // in the index now
  int added = 0, changed = 0, removed = 0, unchanged = 0;
  int blocked = 0;                                           // catalogued but not indexed
  bool retrained = false;                                    // LSA was trained anew
  Diagnostics diagnostics;                                   // findings of files read in this run
  double read_s = 0, index_s = 0, train_s = 0, write_s = 0;  // wall time per phase
};

// Throws Error; the old index is then intact.
[[nodiscard]] IngestReport Ingest(const std::string& kb_dir, const IngestOptions& options);

}  // namespace kb
