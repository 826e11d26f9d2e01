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
  const char* id;       // "skill-name", "safety-bidi"
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
};

// The document's own diagnostics and those of all rules that apply to its kind, sorted by
// line; findings suppressed in the file are left out, bad suppressions reported.
// A suppression: <!-- kb-lint-allow RULE sha256=FIRST12 reason="..." --> on a line of its own
// before the line it covers; FIRST12 are the first 12 digits of that line's SHA-256.
[[nodiscard]] Diagnostics Lint(const Document& document, const LintContext& context = {});

// Only the safety rules, which also gate ingest.
[[nodiscard]] Diagnostics LintSafety(const Document& document);

}  // namespace kb
