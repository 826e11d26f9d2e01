// The patterns by which a plain journal is read: what one line, or one cell of a table, says
// about an attempt. Guesses; never errors. Knows nothing of the lines around it.
#pragma once

#include <string>
#include <string_view>

#include "kb/trace.h"

namespace kb {

// "## Attempt 3: wide loads" as id "A3" and "wide loads"; the id is "" if a line does not
// start so. Also Iteration, Round, Experiment, Version, after list and emphasis marks.
struct AttemptMark {
  std::string id;
  std::string_view rest;  // a view into the line
};
[[nodiscard]] AttemptMark ReadAttemptMark(std::string_view line);

// Sets the fields of `attempt` that are not set yet from "- **Hypothesis**: ...", "Tests:
// passed", "41.2 us -> 12.9 us", "1.25x faster", "reverted".
void ReadJournalLine(std::string_view line, Attempt& attempt);

// The same for a cell below `title`, which is in lower case: "time (us)", "speedup", "status".
void ReadJournalCell(std::string_view title, std::string_view cell, Attempt& attempt);

// Sets a field that is empty, to at most 500 bytes of `text`.
void SetOnce(std::string& field, std::string_view text);

// ASCII letters in lower case.
[[nodiscard]] std::string Lowered(std::string_view text);

}  // namespace kb
