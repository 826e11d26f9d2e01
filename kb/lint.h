// The rules that content must keep: the specification of skills, the structure of
// traces and entries, and the safety of everything an agent may read.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "kb/diagnostic.h"
#include "kb/document.h"

namespace kb {

struct Rule {
  const char* id;  // "skill-name", "safety-bidi"
  Severity severity;
  const char* summary;  // one line: what it asks for
  const char* mend;     // one line: how to mend a finding
};

// Every rule, sorted by id; the table behind the messages, SARIF and the docs.
[[nodiscard]] std::span<const Rule> LintRules();
[[nodiscard]] const Rule* FindRule(std::string_view id);

// What lint may ask about the rest of the corpus.
struct LintContext {
  // The state of an NNK entry ("proved", ...), or "" if there is no such entry. Null:
  // cited entries are not checked.
  std::function<std::string(std::string_view id)> entry_state;
  // Numbers about speed must cite an entry even if the document has no kb-* metadata of its
  // own: set it for the pages of a skill that has them.
  bool strict_claims = false;
};

// The document's own diagnostics and those of all rules that apply to its kind, sorted by
// line; findings suppressed in the file are left out, bad suppressions reported. One finding a
// rule and line, at most 100 a rule; the last one then says how many more there are.
// A suppression: <!-- kb-lint-allow RULE sha256=FIRST12 reason="..." --> on a line of its own
// before the line it covers; FIRST12 are the first 12 digits of the SHA-256 of that line
// without its end. Several may follow each other, all about the next other line. In YAML and
// in code, where HTML comments cannot stand: # kb-lint-allow ... or // kb-lint-allow ...
// A suppressed finding of a blocking rule stays visible as the note "lint-suppressed".
// Looks at the disk for relative links and for the folders of an entry, if `path` is there.
[[nodiscard]] Diagnostics Lint(const Document& document, const LintContext& context = {});

// Only the safety rules, which also gate ingest, and the notes about suppressed ones. Reads
// nothing but the document.
[[nodiscard]] Diagnostics LintSafety(const Document& document);

}  // namespace kb
