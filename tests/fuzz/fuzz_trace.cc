// Whatever the text, attempts, lessons and findings stand on lines of the file, and an
// attempt is derived exactly when the trace is not structured.
#include <cstdint>
#include <cstdlib>

#include "kb/nnk.h"
#include "kb/trace.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  const int lines = static_cast<int>(kb::SplitLines(text).size());
  const kb::Document document = kb::ParseDocument("traces/2026/t.md", text);
  const kb::Trace trace = kb::ParseTrace(document);
  for (const kb::Attempt& a : trace.attempts) {
    if (a.line < 1 || a.line > lines || a.derived == trace.structured) std::abort();
    if (a.derived && a.id.empty()) std::abort();
  }
  for (const kb::Lesson& l : trace.lessons) {
    if (l.line < 1 || l.line > lines) std::abort();
  }
  for (const kb::Diagnostic& d : trace.diagnostics) {
    if (d.line < 0 || d.line > lines + 1) std::abort();
  }
  static_cast<void>(kb::ParseNnkEntry(document));
  static_cast<void>(kb::MatchesArch(document.title, document.scope.arch));
  static_cast<void>(kb::MatchesCuda(document.scope.cuda, document.title));
  return 0;
}
