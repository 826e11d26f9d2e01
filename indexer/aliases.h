// The names that CUDA people use for one thing, so that a question in one vocabulary finds a
// passage in another. A curated table (aliases.cc); nothing is learnt. Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct AliasTerm {
  std::string term;  // plain text, possibly several words: the caller tokenizes it
  float weight = 0;  // in (0, 1]: how nearly it means what the question said
};

// What else the question might have said, strongest first, then by name: "TMA load" gives
// "cp.async.bulk", "tensor map" and so on. Names are found at word borders whatever their
// case; a plural s and a hyphen for a space make no difference. Of two names that overlap the
// longer counts ("cp.async.bulk" is no "cp.async"). Never what the question says itself, and
// no term twice. Looks at the first 4096 bytes.
[[nodiscard]] std::vector<AliasTerm> ExpandAliases(std::string_view query);

// The architecture that the text names: "sm_90" for H100, Hopper, sm_90a, compute_90 or
// "compute capability 9.0". "" if it names none, or several (such a text is about the
// difference, so neither may filter). Looks at the first 4096 bytes.
[[nodiscard]] std::string ArchOf(std::string_view text);

}  // namespace kb
