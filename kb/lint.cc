#include "kb/lint.h"

#include <algorithm>

#include "kb/lint_internal.h"
#include "kb/sha256.h"

namespace kb {
namespace {

constexpr std::string_view kAllow = "kb-lint-allow";
constexpr size_t kHashDigits = 12;
constexpr size_t kMaxPerRule = 100;

// What stands between the marks of a comment that is alone on its line, or "".
std::string_view LoneComment(std::string_view line, bool in_code) {
  line = Trim(line);
  if (line.starts_with("<!--") && line.ends_with("-->") && line.size() >= 7 && !in_code) {
    return Trim(line.substr(4, line.size() - 7));
  }
  if (line.starts_with("//")) return Trim(line.substr(2));
  if (line.starts_with('#')) return Trim(line.substr(1));
  return {};
}

std::string_view NextWord(std::string_view& text) {
  text = Trim(text);
  const size_t end = std::min(text.size(), text.find_first_of(" \t"));
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

Suppression ParseSuppression(std::string_view comment, int line) {
  Suppression suppression;
  suppression.line = line;
  NextWord(comment);  // kb-lint-allow
  suppression.rule = NextWord(comment);
  const std::string_view hash = NextWord(comment);
  if (hash.starts_with("sha256=")) suppression.sha256 = hash.substr(7);
  comment = Trim(comment);
  if (comment.starts_with("reason=\"") && comment.size() > 9 && comment.ends_with('"')) {
    suppression.reason = Trim(comment.substr(8, comment.size() - 9));
  }
  return suppression;
}

bool IsSuppressible(std::string_view rule) {
  return FindRule(rule) != nullptr && !rule.starts_with("lint-");
}

// "" if it is sound; else what is wrong with it.
std::string WhatIsWrong(const Suppression& suppression) {
  if (!IsSuppressible(suppression.rule)) {
    return "there is no rule " + Quoted(suppression.rule) + " that can be allowed";
  }
  if (suppression.reason.empty()) return "the comment gives no reason";
  if (!suppression.matches) return "the hash is not that of the line covered";
  return "";
}

Diagnostic Make(const LintSource& source, std::string_view rule, int line, std::string message) {
  const Rule* known = FindRule(rule);
  return {known != nullptr ? known->severity : Severity::kWarning,
          std::string(rule),
          source.document.path,
          line,
          std::move(message),
          known != nullptr ? known->mend : ""};
}

}  // namespace

std::vector<Suppression> FindSuppressions(const LintSource& source) {
  std::vector<Suppression> found;
  std::vector<int> lines;  // where they stand
  for (size_t at = Find(source.text, kAllow); at != std::string_view::npos;
       at = Find(source.text, kAllow, at + kAllow.size())) {
    const int line = source.LineAt(at);
    if (!found.empty() && found.back().line == line) continue;
    const std::string_view comment = LoneComment(source.Line(line), source.InCode(line));
    if (!comment.starts_with(kAllow)) continue;
    found.push_back(ParseSuppression(comment, line));
  }
  int covers = 0;
  for (size_t i = found.size(); i-- > 0;) {
    const bool stacked = i + 1 < found.size() && found[i + 1].line == found[i].line + 1;
    if (!stacked) covers = found[i].line + 1;
    found[i].covers = covers;
    found[i].matches = found[i].sha256.size() == kHashDigits &&
                       Sha256(source.Line(covers)).substr(0, kHashDigits) == found[i].sha256;
  }
  return found;
}

LintReport::LintReport(const LintSource& source)
    : source_(source), suppressions_(FindSuppressions(source)) {}

bool LintReport::IsSuppressed(std::string_view rule, int line) {
  const auto first = std::lower_bound(
      suppressions_.begin(), suppressions_.end(), line,
      [](const Suppression& suppression, int covered) { return suppression.covers < covered; });
  bool suppressed = false;
  for (auto it = first; it != suppressions_.end() && it->covers == line; ++it) {
    if (it->rule != rule || !WhatIsWrong(*it).empty()) continue;
    if (!it->used && FindRule(rule)->severity == Severity::kBlock) {
      Push(Make(source_, "lint-suppressed", line,
                std::string(rule) + " is allowed here: " + Quoted(it->reason)));
    }
    it->used = true;
    suppressed = true;
  }
  return suppressed;
}

void LintReport::Push(Diagnostic diagnostic) {
  Count& count = counts_[diagnostic.rule];
  if (count.lines.count(diagnostic.line) > 0) return;
  if (count.lines.size() == kMaxPerRule) {
    if (!count.full) diagnostics_[count.last_index].message += " (there are more: 100 are shown)";
    count.full = true;
    return;
  }
  count.lines.insert(diagnostic.line);
  count.last_index = diagnostics_.size();
  diagnostics_.push_back(std::move(diagnostic));
}

void LintReport::Add(std::string_view rule, int line, std::string message) {
  if (IsSuppressed(rule, line)) return;
  Push(Make(source_, rule, line, std::move(message)));
}

void LintReport::Add(const Diagnostic& diagnostic) {
  if (IsSuppressed(diagnostic.rule, diagnostic.line)) return;
  Diagnostic safe = diagnostic;
  safe.message = RedactSecrets(diagnostic.message);
  Push(std::move(safe));
}

void LintReport::JudgeSuppressions() {
  for (const Suppression& suppression : suppressions_) {
    const std::string wrong = WhatIsWrong(suppression);
    if (!wrong.empty()) {
      Push(Make(source_, "lint-suppression", suppression.line, wrong));
    } else if (!suppression.used) {
      Push(Make(source_, "lint-suppression-unused", suppression.line,
                "nothing on the next line breaks " + suppression.rule));
    }
  }
}

Diagnostics LintReport::Take(bool judge_suppressions) {
  if (judge_suppressions) JudgeSuppressions();
  std::stable_sort(diagnostics_.begin(), diagnostics_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
  return std::move(diagnostics_);
}

namespace {

void LintSafetyRules(const LintSource& source, LintReport& report) {
  LintUnicode(source, report);
  LintSecrets(source, report);
  LintPipes(source, report);
  LintShell(source, report);
  LintPhrases(source, report);
}

}  // namespace

Diagnostics LintSafety(const Document& document) {
  const LintSource source(document);
  LintReport report(source);
  LintSafetyRules(source, report);
  return report.Take(false);
}

Diagnostics Lint(const Document& document, const LintContext& context) {
  const LintSource source(document);
  LintReport report(source);
  for (const Diagnostic& diagnostic : document.diagnostics) report.Add(diagnostic);
  LintSafetyRules(source, report);
  const Kind kind = document.kind;
  if (kind == Kind::kSkill) LintSkill(source, report);
  if (kind == Kind::kTrace) LintTrace(source, context, report);
  if (kind == Kind::kNnk) LintNnk(source, report);
  if (kind == Kind::kSkill || kind == Kind::kPage) LintClaims(source, context, report);
  LintLinks(source, report);
  LintScaffold(source, report);
  const Value& license = document.front_matter["license"];
  const bool stated = !document.license.empty() || license.IsList() || license.IsMap();
  if (kind != Kind::kPage && !stated) {
    report.Add("license-missing", KeyLine(document, "license"), "no licence is stated");
  }
  return report.Take(true);
}

}  // namespace kb
