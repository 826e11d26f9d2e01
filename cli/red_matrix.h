// The kill matrix for a terminal: which test rejected which wrong kernel, what survived, and
// which tests are worth nothing.
#pragma once

#include <string>

#include "kb/value.h"

namespace kb {

// `red` is the section of an evaluation (tdd/red.h). Lines fit `columns` (0: as wide as they
// need). A row a mutant, a column a test: "#" rejects it, "." lets it pass. Duplicates and
// mutants that were not compiled are counted below, not shown. "" if there are no mutants.
[[nodiscard]] std::string DrawKillMatrix(const Value& red, int columns);

}  // namespace kb
