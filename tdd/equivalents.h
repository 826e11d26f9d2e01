// Source mutants that the author of a candidate declares equivalent, with the reason. They are
// run all the same; one that survives is counted apart and printed, never hidden. In launch.yaml:
//   equivalent:
//     - mutant: dropped-guard              # the operation
//       was: "if (i < n) y[i] = x[i];"     # the line, spaces at its ends aside
//       now: "if (true) y[i] = x[i];"
//       reason: the grid is exact for every workload that check has
#pragma once

#include <string>
#include <vector>

#include "kb/diagnostic.h"
#include "tdd/mutate.h"

namespace kb {

struct DeclaredEquivalent {
  std::string operation, was, now, reason;
  int line = 0;  // of launch.yaml
};

// More of the mutants than this may not be declared away: the rest count as survivors.
inline constexpr double kMaxDeclaredShare = 0.1;

// The entries of `folder`/launch.yaml; none if there is no such file or key. Entries that lack a
// part are findings, and left out.
struct DeclaredEquivalents {
  std::vector<DeclaredEquivalent> entries;
  Diagnostics diagnostics;
};
[[nodiscard]] DeclaredEquivalents ReadEquivalents(const std::string& folder);

// The entry for this mutant, or null.
[[nodiscard]] const DeclaredEquivalent* FindEquivalent(
    const std::vector<DeclaredEquivalent>& entries, const Mutant& mutant);

}  // namespace kb
