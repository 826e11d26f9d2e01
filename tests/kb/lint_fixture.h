// What the tests of lint share.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kb/document.h"
#include "kb/lint.h"
#include "kb/sha256.h"

namespace kb::test {

// The rules found, sorted, each once.
inline std::vector<std::string> Rules(const Diagnostics& diagnostics) {
  std::vector<std::string> rules;
  for (const Diagnostic& diagnostic : diagnostics) rules.push_back(diagnostic.rule);
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

inline const Diagnostic* FindFinding(const Diagnostics& diagnostics, std::string_view rule) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.rule == rule) return &diagnostic;
  }
  return nullptr;
}

inline bool Has(const Diagnostics& diagnostics, std::string_view rule) {
  return FindFinding(diagnostics, rule) != nullptr;
}

inline Diagnostics LintText(std::string_view path, std::string text,
                            const LintContext& context = {}) {
  return Lint(ParseDocument(path, std::move(text)), context);
}

// The comment that allows `rule` on `line`.
inline std::string Allow(std::string_view rule, std::string_view line) {
  return "<!-- kb-lint-allow " + std::string(rule) + " sha256=" + Sha256(line).substr(0, 12) +
         " reason=\"shown as a warning\" -->";
}

}  // namespace kb::test
