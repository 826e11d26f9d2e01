// Words that try to steer an agent or that give away a person or a machine.
#include <algorithm>

#include "kb/lint_internal.h"

namespace kb {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool IsWordStart(std::string_view text, size_t at) { return at == 0 || !IsAlnum(text[at - 1]); }

// The next word at or after *at, over spaces, line ends and Markdown emphasis; "" at the end
// of a sentence or after 64 bytes without one.
std::string_view NextWord(std::string_view text, size_t* at) {
  static constexpr std::string_view kGaps = " \t\r\n*_`\"'>,";
  size_t begin = *at;
  while (begin < text.size() && begin - *at < 64 && kGaps.find(text[begin]) != kNone) ++begin;
  size_t end = begin;
  while (end < text.size() && end - begin < 32 && IsAlnum(text[end])) ++end;
  *at = end;
  return text.substr(begin, end - begin);
}

template <size_t N>
bool IsOneOf(std::string_view word, const std::string_view (&words)[N]) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

// "ignore (all | any | the | your | of | my | these)* previous|prior|... instructions|rules".
bool IsOverride(std::string_view lower, size_t after_verb) {
  static constexpr std::string_view kFillers[] = {"all",   "any",   "the",   "your", "of",   "my",
                                                  "these", "those", "every", "and",  "other"};
  static constexpr std::string_view kEarlier[] = {"previous",  "prior",     "above",    "earlier",
                                                  "preceding", "foregoing", "existing", "system",
                                                  "safety",    "original"};
  static constexpr std::string_view kOrders[] = {
      "instructions", "instruction", "rules",    "prompt",      "prompts",   "guidelines",
      "directives",   "directions",  "policies", "constraints", "safeguards"};
  bool earlier = false;
  size_t at = after_verb;
  for (int i = 0; i < 8; ++i) {
    const std::string_view word = NextWord(lower, &at);
    if (IsOneOf(word, kOrders)) return earlier;
    // "forget your instructions" needs no "previous".
    const bool names_them = IsOneOf(word, kEarlier) || word == "your";
    if (!names_them && !IsOneOf(word, kFillers)) return false;
    earlier = earlier || names_them;
  }
  return false;
}

constexpr std::string_view kOverrideVerbs[] = {"ignore", "disregard", "forget", "override",
                                               "bypass"};

constexpr std::string_view kSteering[] = {
    "do not tell the user",     "don't tell the user",           "do not inform the user",
    "don't inform the user",    "do not mention this to",        "without telling the user",
    "without the user knowing", "hide this from the user",       "reveal your system prompt",
    "print your system prompt", "you are now in developer mode", "do anything now",
    "new system prompt:"};

// Who a hidden comment speaks to, and that it gives an order.
constexpr std::string_view kAddressed[] = {"you must",
                                           "you should now",
                                           "assistant:",
                                           "ai agent",
                                           "ai assistant",
                                           "agents must",
                                           "agent must",
                                           "agent should",
                                           "llm:",
                                           "claude,",
                                           "system prompt",
                                           "system:",
                                           "run the following",
                                           "execute the following",
                                           "do not tell",
                                           "don't tell",
                                           "secretly",
                                           "exfiltrate",
                                           "send the contents"};

template <size_t N>
std::string_view FirstOf(std::string_view lower, const std::string_view (&phrases)[N]) {
  for (std::string_view phrase : phrases) {
    if (Find(lower, phrase) != kNone) return phrase;
  }
  return {};
}

std::string_view OverrideIn(std::string_view lower, size_t* offset) {
  for (std::string_view verb : kOverrideVerbs) {
    for (size_t at = Find(lower, verb, *offset); at != kNone; at = Find(lower, verb, at + 1)) {
      if (!IsWordStart(lower, at) || !IsOverride(lower, at + verb.size())) continue;
      *offset = at;
      return verb;
    }
  }
  return {};
}

void FindOverrides(const LintSource& source, LintReport& report) {
  const std::string_view lower = source.lower;
  auto add = [&](size_t at) {
    report.Add("safety-override", source.LineAt(at),
               "a phrase that tries to override an agent's instructions");
  };
  for (std::string_view verb : kOverrideVerbs) {
    for (size_t at = Find(lower, verb); at != kNone; at = Find(lower, verb, at + 1)) {
      if (IsWordStart(lower, at) && IsOverride(lower, at + verb.size())) add(at);
    }
  }
  for (std::string_view phrase : kSteering) {
    for (size_t at = Find(lower, phrase); at != kNone; at = Find(lower, phrase, at + 1)) {
      size_t after = at + phrase.size();
      if (NextWord(lower, &after) != "to") add(at);  // "do not tell the user to run it" is honest
    }
  }
}

void FindHiddenDirectives(const LintSource& source, LintReport& report) {
  const std::string_view lower = source.lower;
  for (size_t at = Find(lower, "<!--"); at != kNone;) {
    size_t end = Find(lower, "-->", at + 4);
    end = end == kNone ? lower.size() : end;
    const std::string_view comment = lower.substr(at + 4, end - at - 4);
    size_t from = 0;
    const bool directive =
        !FirstOf(comment, kAddressed).empty() || !OverrideIn(comment, &from).empty();
    if (directive && !source.InCode(source.LineAt(at)) &&
        !Trim(comment).starts_with("kb-lint-allow")) {
      report.Add("safety-hidden-directive", source.LineAt(at),
                 "an HTML comment gives orders that a reader does not see");
    }
    at = Find(lower, "<!--", end);
  }
}

// Settings and public keys; `rest` is what follows "~/.ssh/".
bool IsPublicSshFile(std::string_view rest) {
  const std::string_view name = rest.substr(0, rest.find_first_of(" \t\r\n`\"'),;|<>&"));
  return name.empty() || name.starts_with("config") || name.starts_with("authorized_keys") ||
         name.starts_with("known_hosts") || name.ends_with(".pub");
}

void FindCredentialPaths(const LintSource& source, LintReport& report) {
  static constexpr std::string_view kPaths[] = {"/.ssh/",
                                                "/.aws/",
                                                "/.netrc",
                                                "/.npmrc",
                                                "/.pypirc",
                                                "/.gnupg",
                                                "/.kube/config",
                                                "/.docker/config.json",
                                                "/.git-credentials",
                                                "/etc/shadow",
                                                "/.config/gcloud",
                                                "/.azure/"};
  for (std::string_view path : kPaths) {
    for (size_t at = Find(source.text, path); at != kNone;
         at = Find(source.text, path, at + path.size())) {
      if (path == "/.ssh/" && IsPublicSshFile(source.text.substr(at + path.size(), 64))) continue;
      report.Add("safety-credential-path", source.LineAt(at),
                 "a file that holds credentials: " + std::string(path));
    }
  }
}

struct HomeRoot {
  std::string_view root;
  char separator;
};

constexpr HomeRoot kHomeRoots[] = {
    {"/home/", '/'}, {"/Users/", '/'}, {"C:\\Users\\", '\\'}, {"C:\\\\Users\\\\", '\\'}};

// Accounts of images and words of documentation: nobody's name.
bool IsGenericAccount(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "user",          "username",      "users",         "you",       "your",      "yourname",
      "your-username", "your-user",     "your_username", "your_user", "name",      "me",
      "ubuntu",        "runner",        "node",          "vscode",    "coder",     "app",
      "jovyan",        "nonroot",       "foo",           "linuxbrew", "public",    "shared",
      "default",       "admin",         "root",          "dev",       "developer", "docker",
      "jenkins",       "triton-server", "ec2-user",      "myuser",    "my-user",   "someone",
      "nvidia",        "work",          "xxx",           "x"};
  return IsOneOf(Lower(name), kNames);
}

}  // namespace

std::vector<HomePath> FindHomePaths(const LintSource& source) {
  static constexpr std::string_view kBefore = " \t\r\n\"'`([{=:,<>|;@";
  std::vector<HomePath> found;
  const std::string_view text = source.text;
  for (const HomeRoot& home : kHomeRoots) {
    for (size_t at = Find(text, home.root); at != kNone;
         at = Find(text, home.root, at + home.root.size())) {
      if (at > 0 && kBefore.find(text[at - 1]) == kNone) continue;
      const size_t begin = at + home.root.size();
      size_t end = begin;
      while (end < text.size() && end - begin < 64 &&
             (IsAlnum(text[end]) || text[end] == '-' || text[end] == '_' || text[end] == '.')) {
        ++end;
      }
      std::string_view name = text.substr(begin, end - begin);
      while (!name.empty() && name.back() == '.') name.remove_suffix(1);
      if (name.empty() || IsGenericAccount(name)) continue;
      found.push_back({source.LineAt(at), std::string(home.root) + std::string(name)});
    }
  }
  return found;
}

void LintPhrases(const LintSource& source, LintReport& report) {
  FindOverrides(source, report);
  FindHiddenDirectives(source, report);
  FindCredentialPaths(source, report);
  if (source.document.kind == Kind::kTrace) return;  // there it is an error: trace-home-path
  for (const HomePath& home : FindHomePaths(source)) {
    report.Add("safety-home-path", home.line, "names a person's home: " + Quoted(home.path));
  }
}

}  // namespace kb
