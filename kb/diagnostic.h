// A finding about content: what is wrong, where, and how to mend it. A value;
// parsing and linting return lists of these and never throw because of content.
#pragma once

#include <string>
#include <vector>

namespace kb {

// kBlock: the document must not be indexed or exported (safety).
// kError: breaks a format's rule.  kWarning: legal, but will hurt someone.
enum class Severity { kNote, kWarning, kError, kBlock };

struct Diagnostic {
  Severity severity = Severity::kWarning;
  std::string rule;     // stable id, e.g. "skill-name-folder"
  std::string path;     // as the document's path
  int line = 0;         // 1-based; 0: the whole file
  std::string message;  // what is wrong and why, one line
  std::string mend;     // how to mend it, one line
};

using Diagnostics = std::vector<Diagnostic>;

// "note", "warning", "error" or "block".
[[nodiscard]] const char* SeverityName(Severity severity);

// "path:line: error: message [rule] (mend)". Control characters are escaped,
// so a hostile path or message stays on its one line.
[[nodiscard]] std::string FormatDiagnostic(const Diagnostic& diagnostic);

// True if any diagnostic has Severity::kBlock.
[[nodiscard]] bool IsBlocked(const Diagnostics& diagnostics);

}  // namespace kb
