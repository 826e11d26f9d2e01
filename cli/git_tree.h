// The Markdown files of a git revision, read by git itself without a shell and without a
// working tree.
#pragma once

#include <string>
#include <vector>

namespace kb {

struct GitRevision {
  std::string commit;  // full hash
  int files = 0;
};

// Writes the Markdown below `roots` (relative to the working folder) as of `revision` into
// `folder`, which must be empty, under the same relative names. Links, submodules, files over
// 16 MiB and names that lead out of `folder` are passed over. Throws Error if there is no git, no
// repository here or no such revision.
[[nodiscard]] GitRevision CheckOutMarkdown(const std::string& revision,
                                           const std::vector<std::string>& roots,
                                           const std::string& folder);

}  // namespace kb
