// What has happened on disk since the index was written. Reads only files whose size, time
// or inode have changed.
#pragma once

#include <string>
#include <vector>

#include "kb/catalog.h"

namespace kb {

struct Freshness {
  std::vector<std::string> added, changed, removed;  // paths, sorted
  [[nodiscard]] bool IsFresh() const { return added.empty() && changed.empty() && removed.empty(); }
};

// `roots` as catalogued. A file that `findings` name but the index does not hold is not new.
[[nodiscard]] Freshness CompareWithDisk(const std::string& kb_dir,
                                        const std::vector<CatalogDocument>& documents,
                                        const std::vector<std::string>& roots,
                                        const Diagnostics& findings);

// Whether the finding keeps its file out of the index: it blocks, or it could not be read.
[[nodiscard]] bool LeavesOut(const Diagnostic& finding);

}  // namespace kb
