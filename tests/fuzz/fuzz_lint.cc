// Lint of any text: never crashes; every finding names a rule of the table, has that
// rule's severity unless parsing says otherwise, and a line of the file.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

#include "kb/document.h"
#include "kb/lint.h"
#include "kb/markdown.h"
#include "kb/sarif.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Check(const kb::Diagnostics& found, int lines) {
  int last = 0;
  for (const kb::Diagnostic& diagnostic : found) {
    Require(kb::FindRule(diagnostic.rule) != nullptr);
    Require(diagnostic.line >= last && diagnostic.line <= lines);
    Require(!diagnostic.message.empty());
    last = diagnostic.line;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const char* const kPaths[] = {"skills/a/SKILL.md", "nnk/a/NNK.md", "traces/2026/a.md",
                                       "a/references/b.md"};
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const kb::Document document = kb::ParseDocument(kPaths[data[0] % std::size(kPaths)], text);
  const int lines = std::max(1, static_cast<int>(kb::SplitLines(text).size()));
  kb::LintContext context;
  context.entry_state = [](std::string_view id) {
    return std::string(id.size() % 2 ? "" : "stale");
  };
  context.strict_claims = (data[0] & 0x80) != 0;
  const kb::Diagnostics found = kb::Lint(document, context);
  Check(found, lines);
  const kb::Diagnostics safety = kb::LintSafety(document);
  Check(safety, lines);
  Require(kb::IsBlocked(safety) == kb::IsBlocked(found));
  Require(!kb::WriteSarif(found, "0").empty());
  return 0;
}
