// Secrets by their published shapes. Placeholders of documentation are exempt.
#include <algorithm>
#include <bitset>

#include "kb/lint_internal.h"

namespace kb {
namespace {

enum Chars { kUpperDigits, kAlnumOnly, kWord, kToken, kJwt };

// A prefix, what follows it, and how much. `run`: the longest stretch of letters and
// digits must be this long, which tells keys from names such as "sk-learn-style".
struct Shape {
  std::string_view prefix;
  Chars chars;
  size_t min, max;
  size_t run;
  const char* name;
};

constexpr Shape kShapes[] = {
    {"AKIA", kUpperDigits, 16, 16, 16, "AWS access key"},
    {"ASIA", kUpperDigits, 16, 16, 16, "AWS session key"},
    {"AIza", kToken, 35, 39, 8, "Google API key"},
    {"ghp_", kAlnumOnly, 36, 255, 36, "GitHub token"},
    {"gho_", kAlnumOnly, 36, 255, 36, "GitHub token"},
    {"ghu_", kAlnumOnly, 36, 255, 36, "GitHub token"},
    {"ghs_", kAlnumOnly, 36, 255, 36, "GitHub token"},
    {"ghr_", kAlnumOnly, 36, 255, 36, "GitHub token"},
    {"github_pat_", kWord, 40, 255, 16, "GitHub token"},
    {"glpat-", kToken, 20, 300, 8, "GitLab token"},
    {"hf_", kAlnumOnly, 30, 64, 30, "Hugging Face token"},
    {"npm_", kAlnumOnly, 36, 36, 36, "npm token"},
    {"nvapi-", kToken, 32, 200, 12, "NVIDIA API key"},
    {"pypi-AgEI", kToken, 50, 400, 12, "PyPI token"},
    {"sk-", kToken, 20, 300, 16, "API key"},
    {"sk_live_", kAlnumOnly, 16, 255, 16, "Stripe key"},
    {"rk_live_", kAlnumOnly, 16, 255, 16, "Stripe key"},
    {"xapp-", kToken, 20, 300, 10, "Slack token"},
    {"xoxa-", kToken, 20, 300, 10, "Slack token"},
    {"xoxb-", kToken, 20, 300, 10, "Slack token"},
    {"xoxe-", kToken, 20, 300, 10, "Slack token"},
    {"xoxp-", kToken, 20, 300, 10, "Slack token"},
    {"xoxr-", kToken, 20, 300, 10, "Slack token"},
    {"xoxs-", kToken, 20, 300, 10, "Slack token"},
    {"eyJ", kJwt, 40, 16384, 8, "JSON web token"},
};

bool Fits(Chars chars, char c) {
  switch (chars) {
    case kUpperDigits:
      return IsDigit(c) || (c >= 'A' && c <= 'Z');
    case kAlnumOnly:
      return IsAlnum(c);
    case kWord:
      return IsAlnum(c) || c == '_';
    case kToken:
      return IsAlnum(c) || c == '_' || c == '-';
    case kJwt:
      return IsAlnum(c) || c == '_' || c == '-' || c == '.';
  }
  return false;
}

size_t LongestRun(std::string_view text) {
  size_t longest = 0, run = 0;
  for (char c : text) {
    run = IsAlnum(c) ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

bool IsPlaceholder(std::string_view secret) {
  static constexpr std::string_view kWords[] = {"example",  "xxxx",     "your",     "placeholder",
                                                "redacted", "dummy",    "changeme", "sample",
                                                "abcdefgh", "12345678", "01234567"};
  const std::string lower = Lower(secret);
  for (std::string_view word : kWords) {
    if (lower.find(word) != std::string::npos) return true;
  }
  std::bitset<256> seen;
  for (char c : secret) seen.set(static_cast<unsigned char>(c));
  return seen.count() < 7;
}

// Header, payload and signature; the first two are base64url of "{".
bool IsJwt(std::string_view token) {
  // The sample token of the JWT documentation: {"sub":"1234567890", ...}.
  if (token.find(".eyJzdWIiOiIxMjM0NTY3ODkwIi") != std::string_view::npos) return false;
  const size_t dot = token.find('.');
  const size_t dot2 = dot == std::string_view::npos ? dot : token.find('.', dot + 1);
  return dot2 != std::string_view::npos && dot >= 12 && token.substr(dot + 1, 3) == "eyJ" &&
         dot2 - dot > 10 && token.size() - dot2 > 16;
}

bool IsSecret(const Shape& shape, std::string_view rest) {
  if (rest.size() < shape.min || rest.size() > shape.max) return false;
  if (LongestRun(rest) < shape.run || IsPlaceholder(rest)) return false;
  if (shape.chars == kJwt) return IsJwt(std::string(shape.prefix).append(rest));
  const bool digit = std::any_of(rest.begin(), rest.end(), IsDigit);
  return digit || shape.chars == kUpperDigits;
}

struct FoundSecret {
  size_t begin, end;
  const char* name;
};

// Whether `before` makes the prefix a part of a longer word, as in "task-specific".
bool ContinuesName(const Shape& shape, char before) {
  if (before == '-') return shape.prefix == "sk-" || shape.chars == kJwt;
  if (before == '.') return shape.chars == kJwt;
  return IsAlnum(before) || before == '_';
}

// Each run of token characters is looked at once a shape: linear.
template <typename Visit>
void ForEachToken(std::string_view text, const Shape& shape, const Visit& visit) {
  for (size_t at = Find(text, shape.prefix); at != std::string_view::npos;) {
    size_t end = at + shape.prefix.size();
    const bool starts = at == 0 || !ContinuesName(shape, text[at - 1]);
    if (starts) {
      while (end < text.size() && Fits(shape.chars, text[end])) ++end;
      if (IsSecret(shape, text.substr(at + shape.prefix.size(), end - at - shape.prefix.size()))) {
        visit(FoundSecret{at, end, shape.name});
      }
    }
    at = Find(text, shape.prefix, end);
  }
}

// "-----BEGIN ... PRIVATE KEY-----" with key material behind it, not "..." or "<key>".
template <typename Visit>
void ForEachPrivateKey(std::string_view text, const Visit& visit) {
  static constexpr std::string_view kEnd = "PRIVATE KEY-----";
  for (size_t at = Find(text, kEnd); at != std::string_view::npos;
       at = Find(text, kEnd, at + kEnd.size())) {
    const size_t before = at < 40 ? 0 : at - 40;
    const size_t begin = text.substr(before, at - before).rfind("-----BEGIN ");
    if (begin == std::string_view::npos) continue;
    std::string_view material = text.substr(at + kEnd.size(), 512);
    size_t run = 0;
    for (size_t i = 0; i < material.size() && run < 40; ++i) {
      const char c = material[i];
      run = IsAlnum(c) || c == '+' || c == '/' || c == '=' ? run + 1 : 0;
      if (run == 40 && IsPlaceholder(material.substr(i - 39, 40))) run = 0;
    }
    const size_t end = at + kEnd.size() + material.size();
    if (run == 40) visit(FoundSecret{before + begin, end, "private key"});
  }
}

template <typename Visit>
void ForEachSecret(std::string_view text, const Visit& visit) {
  for (const Shape& shape : kShapes) ForEachToken(text, shape, visit);
  ForEachPrivateKey(text, visit);
}

}  // namespace

std::string RedactSecrets(std::string_view text) {
  std::vector<FoundSecret> found;
  ForEachSecret(text, [&](const FoundSecret& secret) { found.push_back(secret); });
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::string result;
  size_t from = 0;
  for (const FoundSecret& secret : found) {
    if (secret.begin < from) continue;
    result.append(text.substr(from, secret.begin + 4 - from)).append("...");
    from = secret.end;
  }
  return result.append(text.substr(from));
}

void LintSecrets(const LintSource& source, LintReport& report) {
  ForEachSecret(source.text, [&](const FoundSecret& secret) {
    report.Add("safety-secret", source.LineAt(secret.begin),
               std::string(secret.name) + " " + std::string(source.text.substr(secret.begin, 4)) +
                   "... in plain text: everyone who reads the file has it");
  });
}

}  // namespace kb
