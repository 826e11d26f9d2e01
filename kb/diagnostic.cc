#include "kb/diagnostic.h"

#include <algorithm>

#include "kb/file.h"

namespace kb {

const char* SeverityName(Severity severity) {
  constexpr const char* kNames[] = {"note", "warning", "error", "block"};
  return kNames[static_cast<int>(severity)];
}

std::string FormatDiagnostic(const Diagnostic& diagnostic) {
  std::string line = Printable(diagnostic.path);
  if (diagnostic.line > 0) line += ":" + std::to_string(diagnostic.line);
  line += std::string(": ") + SeverityName(diagnostic.severity) + ": ";
  line += Printable(diagnostic.message) + " [" + Printable(diagnostic.rule) + "]";
  if (!diagnostic.mend.empty()) line += " (" + Printable(diagnostic.mend) + ")";
  return line;
}

bool IsBlocked(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kBlock; });
}

}  // namespace kb
