// The evidence beside an entry: evaluations as JSON, `evidence/<gpu>-<12 digits>.json`, named by
// their own content and never edited. Read here with distrust: a file that does not bear its
// digest is a finding, not evidence. What it says about the entry: kb/entry_state.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/value.h"

namespace kb {

// One line of JSON with the keys of every map sorted by bytes: the same for a file that was
// indented or whose keys were moved.
[[nodiscard]] std::string CanonicalJson(const Value& value);

// SHA-256 of an evaluation's canonical JSON without its "created".
[[nodiscard]] std::string EvidenceDigest(const Value& evaluation);

// "nvidia-h200-0123456789ab.json": the GPU of environment.gpu, lower case, and the digest's start.
[[nodiscard]] std::string EvidenceFileName(const Value& evaluation);

struct EvidenceFile {
  std::string name;    // within evidence/
  std::string digest;  // of `value`, which the name bears
  Value value;         // kb: evaluation/1
};

struct EvidenceFolder {
  std::vector<EvidenceFile> files;  // sound ones, by "created", then by name
  Diagnostics faults;               // rule nnk-evidence-digest, path of the file
  int found = 0;                    // *.json in the folder, sound or not
};

// All `<entry_folder>/evidence/*.json`. At most 1,000 files of 8 MiB, no symlinks; an empty
// result if there is no such folder. Never throws.
[[nodiscard]] EvidenceFolder ReadEvidence(const std::string& entry_folder);

}  // namespace kb
