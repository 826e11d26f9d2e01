// What the files of lint share: the text cut into lines, the findings, and the scanners.
// Not for use outside kb/lint*.cc. All scanners are linear in the text, by hand: std::regex
// recurses and is slow.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kb/document.h"
#include "kb/lint.h"

namespace kb {

// A document prepared for scanning. Views into the document, which must outlive it.
struct LintSource {
  explicit LintSource(const Document& document);

  const Document& document;
  std::string_view text;                // the whole file
  std::string lower;                    // `text` with A-Z as a-z; the same offsets
  std::vector<std::string_view> lines;  // of `text`, without their ends
  std::vector<bool> code;               // per line: inside a code block

  [[nodiscard]] int LineAt(size_t offset) const;        // 1-based
  [[nodiscard]] std::string_view Line(int line) const;  // "" if there is no such line
  [[nodiscard]] size_t LineBegin(int line) const;       // offset in `text`
  [[nodiscard]] size_t LineEnd(int line) const;
  [[nodiscard]] bool InCode(int line) const;
  // True if an odd number of backticks stands before `offset` on its line (of the last KiB).
  [[nodiscard]] bool InInlineCode(size_t offset) const;
};

// One comment "kb-lint-allow RULE sha256=FIRST12 reason="..."".
struct Suppression {
  std::string rule;
  std::string sha256;  // first 12 digits, as written
  std::string reason;
  int line = 0;          // where it stands
  int covers = 0;        // the line that it is about
  bool matches = false;  // the hash is that of the line covered
  bool used = false;
};

[[nodiscard]] std::vector<Suppression> FindSuppressions(const LintSource& source);

// Collects findings: one per rule and line, without the suppressed ones, at most 100 a rule.
class LintReport {
 public:
  explicit LintReport(const LintSource& source);
  void Add(std::string_view rule, int line, std::string message);
  void Add(const Diagnostic& diagnostic);  // of parsing
  // Sorted by line. `judge_suppressions`: report those that are wrong or not needed.
  [[nodiscard]] Diagnostics Take(bool judge_suppressions);

 private:
  bool IsSuppressed(std::string_view rule, int line);
  void JudgeSuppressions();
  void Push(Diagnostic diagnostic);

  const LintSource& source_;
  std::vector<Suppression> suppressions_;
  struct Count {
    std::set<int> lines;  // at most 100
    size_t last_index = 0;
    bool full = false;
  };
  std::map<std::string, Count, std::less<>> counts_;
  Diagnostics diagnostics_;
};

// ---- rules, by file ----
void LintUnicode(const LintSource& source, LintReport& report);   // lint_unicode.cc
void LintSecrets(const LintSource& source, LintReport& report);   // lint_secrets.cc
void LintPipes(const LintSource& source, LintReport& report);     // lint_pipe.cc
void LintShell(const LintSource& source, LintReport& report);     // lint_shell.cc
void LintPhrases(const LintSource& source, LintReport& report);   // lint_safety.cc
void LintScaffold(const LintSource& source, LintReport& report);  // lint_scaffold.cc
void LintSkill(const LintSource& source, LintReport& report);
void LintLinks(const LintSource& source, LintReport& report);  // lint_skill.cc
void LintClaims(const LintSource& source, const LintContext& context, LintReport& report);
void LintTrace(const LintSource& source, const LintContext& context, LintReport& report);
void LintNnk(const LintSource& source, LintReport& report);

// ---- scanners ----
// The offset of `needle` in `text` at or after `from`, or npos; fast for long texts.
[[nodiscard]] size_t Find(std::string_view text, std::string_view needle, size_t from = 0);

[[nodiscard]] inline bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
[[nodiscard]] inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] std::string Lower(std::string_view text);
[[nodiscard]] std::string_view Trim(std::string_view text);  // spaces and tabs

// A path below somebody's home folder, e.g. /home/alice/x; well-known names ("user") are none.
struct HomePath {
  int line = 0;
  std::string path;
};
[[nodiscard]] std::vector<HomePath> FindHomePaths(const LintSource& source);

// `text` in quotes for a message: at most 60 characters, secrets cut to 4 characters + "...".
[[nodiscard]] std::string Quoted(std::string_view text);
[[nodiscard]] std::string RedactSecrets(std::string_view text);

// A statement about speed: "2.3x faster", "1.9 TB/s", "45 us", "30 % faster".
struct Claim {
  enum class Type { kRatio, kRate, kTime };
  Type type = Type::kRatio;
  std::string text;
  size_t offset = 0;  // in the text given
};
[[nodiscard]] std::vector<Claim> FindClaims(std::string_view text);
// The ids of "[nnk:<id>]" and "[nnk:<id>@<hash>]".
[[nodiscard]] std::vector<std::string> FindCitations(std::string_view text);

// Words of letters, digits, '.', '_', '-', without ".." and not starting with '.' or '-'.
[[nodiscard]] bool IsSafeName(std::string_view name);
// The names in "a b, c".
[[nodiscard]] std::vector<std::string> SplitNames(std::string_view text);
[[nodiscard]] bool IsSha256(std::string_view text);  // 64 hexadecimal digits, lower case
// "2026-05-01" or an RFC 3339 timestamp such as "2026-05-01T10:00:00Z".
[[nodiscard]] bool IsTimestamp(std::string_view text);
// The line of front matter `key`, or 1.
[[nodiscard]] int KeyLine(const Document& document, std::string_view key);

}  // namespace kb
