// Traces and entries as kb serve gives them out.
#pragma once

#include <string>

#include "cli/found_json.h"
#include "kb/value.h"

namespace kb {

// TraceJson, with `fields` (all that was written) in each attempt, and `diagnostics`.
[[nodiscard]] Value WholeTraceJson(const Found& found);

// {document: DocumentJson, claim, not_when, case: {name, sha256}, gpu, median_us, speedup,
//  ci95: [low, high] or null, percent_of_roofline, supersedes, related, front_matter,
//  evidence: [{file, sha256, data or error}...], evidence_left_out}
// `evidence` holds the *.json files of the folder "evidence" beside the entry as they are on
// disk now, by name: real files alone, at most 64 of 1 MiB and 8 MiB together.
[[nodiscard]] Value EntryJson(const std::string& kb_dir, const Found& found);

}  // namespace kb
