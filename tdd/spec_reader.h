// Reads a specification (case.yaml, launch.yaml) key by key. Each rule that is broken becomes one
// diagnostic with its line; reading goes on, so that all faults of a file are told at once.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/value.h"
#include "tdd/expression.h"

namespace kb {

class SpecReader {
 public:
  // `rule`: of all its diagnostics, e.g. "case-yaml". `path`: as they show it.
  SpecReader(std::string rule, std::string path) : rule_(std::move(rule)), path_(std::move(path)) {}

  void Error(int line, std::string message, std::string mend);
  // About another file than the specification itself.
  void ErrorIn(const std::string& path, int line, std::string message, std::string mend);
  void Warn(int line, std::string message, std::string mend);

  // The map that the YAML text is, or a null value. `header`: what `kb:` must say.
  [[nodiscard]] Value Read(std::string_view text, std::string_view header);

  // No other keys than `known`, none twice. `what`: "input x". False: not a map.
  bool CheckKeys(const Value& map, const std::string& what,
                 std::initializer_list<std::string_view> known);
  // A map whose keys may be names (IsSpecName), none twice, at most `limit` of them. False: there
  // is nothing to read. Bad names are told, and may be read on so that nothing is told twice.
  bool CheckNames(const Value& map, const std::string& what, size_t limit);
  // Neither is there: nullopt, silently unless `required`. Another type: nullopt and an error.
  [[nodiscard]] std::optional<std::string> Text(const Value& map, std::string_view key,
                                                bool required = false);
  [[nodiscard]] std::optional<double> Number(const Value& map, std::string_view key);
  [[nodiscard]] bool Flag(const Value& map, std::string_view key);  // false if not there
  // An integer or an expression over `names`; bad ones are errors and nullopt.
  [[nodiscard]] std::optional<Expression> Formula(const Value& value, const std::string& what,
                                                  const std::vector<std::string>& names);
  // A list of 1 to `limit` of them.
  [[nodiscard]] std::vector<Expression> Formulas(const Value& list, const std::string& what,
                                                 size_t limit,
                                                 const std::vector<std::string>& names);

  [[nodiscard]] bool ok() const { return errors_ == 0; }
  [[nodiscard]] Diagnostics Take() { return std::move(diagnostics_); }
  [[nodiscard]] int top_line() const { return top_line_; }

 private:
  void Add(Diagnostic diagnostic);

  std::string rule_, path_;
  Diagnostics diagnostics_;
  int errors_ = 0;
  int top_line_ = 1;
};

// "rows, cols and eps"; "" for none.
[[nodiscard]] std::string ListOf(const std::vector<std::string>& words);
// The known word that `word` was likely meant to be, or "".
[[nodiscard]] std::string NearestOf(std::string_view word, const std::vector<std::string>& known);
// At most 60 bytes of a text from outside, quoted and printable.
[[nodiscard]] std::string Shown(std::string_view text);

}  // namespace kb
