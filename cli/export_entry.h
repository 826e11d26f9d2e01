// An entry of Net New Knowledge as a skill of its own.
#pragma once

#include <string>
#include <vector>

#include "cli/export_bundle.h"
#include "cli/export_front.h"
#include "kb/document.h"

namespace kb {

// "proved", "replicated", "stale", "refuted"; "unproved" for anything else, and for an entry
// that calls itself proved but in which lint finds an error (no evidence, no seen failure).
[[nodiscard]] std::string ExportState(const Document& entry, const Diagnostics& findings);

// name from the id, description from claim and scope.
[[nodiscard]] SkillFront EntryFront(const Document& entry, const std::string& state);

// Claim, scope, not_when, the entry's own text, the smallest code, evidence, how to check.
// `files`: those that come along.
[[nodiscard]] std::string EntryBody(const Document& entry, const std::string& state,
                                    const std::vector<BundleFile>& files);

}  // namespace kb
