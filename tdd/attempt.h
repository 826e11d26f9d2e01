// Traces written by measuring: an evaluation becomes an attempt of a trace (formats.md).
#pragma once

#include <string>
#include <string_view>

#include "tdd/candidate.h"
#include "tdd/case.h"
#include "tdd/evaluation.h"

namespace kb {

struct AttemptNote {
  std::string hypothesis;  // what should get better, and why; said before it was measured
  std::string parent;      // "": the last attempt that was kept, if there is one
  std::string decision;  // keep|revert|branch|abandon|park; "": keep what passed and is the fastest
  std::string why;       // "": made from the verdict
  std::string diff;      // unified diff against the parent's source; "": none
};

// A new trace for the case: front matter, heading and an empty list of attempts. `date`: UTC,
// "2026-11-30".
[[nodiscard]] std::string NewTrace(const std::string& id, const Case& for_case,
                                   const Evaluation& first, const std::string& date);

// `trace` (a whole file) with one more attempt before its lessons, and its `result:` line brought
// up to date. Throws Error if it is no trace of this case.
[[nodiscard]] std::string AppendAttempt(std::string_view trace, const std::string& path,
                                        const Candidate& candidate, const Evaluation& evaluation,
                                        const AttemptNote& note);

// Unified diff of two files by diff(1); "" if they are equal or it is not installed. At most 64
// KiB.
[[nodiscard]] std::string DiffFiles(const std::string& before, const std::string& after);

}  // namespace kb
