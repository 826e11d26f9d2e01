// The news stage: does this evaluation say what no entry says yet?
#pragma once

#include <string>
#include <vector>

#include "kb/entry_state.h"
#include "tdd/case.h"
#include "tdd/evaluation.h"

namespace kb {

// An entry as news and records need it. `folder` is nnk/<id>.
struct KnownEntry {
  std::string id, folder;
  Value front_matter;
  std::vector<EvidenceFile> evidence;
  EntryState state;
};
// The entry in `folder`, or nullopt if it has no NNK.md that can be read.
[[nodiscard]] std::optional<KnownEntry> ReadEntry(const std::string& folder);
// All entries below `nnk_folder` about this case ("" : all), by id. At most 10,000.
[[nodiscard]] std::vector<KnownEntry> FindEntries(const std::string& nnk_folder,
                                                  const std::string& case_name);

enum class NewsKind {
  kNone,        // passed, not recorded
  kNewCase,     // the first entry of the case
  kFaster,      // than the best entry on this GPU, by more than the noise of both
  kNewScope,    // a GPU, architecture, dtype or workload that no entry has measured
  kRefutation,  // an entry's own candidate no longer reaches its interval
  kNegative,    // asked for: this does not help
};
[[nodiscard]] const char* NewsKindName(NewsKind kind);  // "none", "new-case", "faster", ...

struct News {
  NewsKind kind = NewsKind::kNone;
  std::string why;  // one line
  ClaimKind claim = ClaimKind::kFaster;
  std::string entry;  // kRefutation, or a candidate that an entry has: its id
  std::vector<std::string> supersedes, related;  // ids
  // Whether an entry of its own may be written. A refutation is evidence for the old entry.
  [[nodiscard]] bool recordable() const {
    return kind != NewsKind::kNone && kind != NewsKind::kRefutation;
  }
};

// `claim_negative`: "this does not help" is the claim; then the interval of the ratio must
// exclude an improvement above 1 %. An evaluation that did not pass is no news, unless it is that
// of an entry's own candidate: then it refutes.
[[nodiscard]] News JudgeNews(const Case& for_case, const Evaluation& evaluation,
                             const std::vector<KnownEntry>& entries, bool claim_negative = false);

// The stage. Always PASSED; detail: {"kind", "why", "claim", "entry", "supersedes", "related"}.
[[nodiscard]] StageReport NewsReport(const News& news);

}  // namespace kb
