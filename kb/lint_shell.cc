// Commands that an agent may copy: expansion at load time, sudo, rm -rf, unpinned installs.
#include <algorithm>

#include "kb/lint_internal.h"

namespace kb {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool StartsWord(std::string_view text, size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  return !IsAlnum(before) && before != '-' && before != '_' && before != '.' && before != '/';
}

// The words from `at` to the end of the command, at most 24.
std::vector<std::string_view> CommandWords(std::string_view text, size_t at) {
  static constexpr std::string_view kEnds = "\n;|&`)";
  std::vector<std::string_view> words;
  while (words.size() < 24 && at < text.size() && kEnds.find(text[at]) == kNone) {
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && end - at < 256 && text[end] != ' ' && text[end] != '\t' &&
           text[end] != '\r' && kEnds.find(text[end]) == kNone) {
      ++end;
    }
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// `visit(at, words)` for each command `name` in code, inline code or after a prompt.
template <typename Visit>
void ForEachCommand(const LintSource& source, std::string_view name, const Visit& visit) {
  const std::string_view text = source.text;
  for (size_t at = Find(text, name); at != kNone; at = Find(text, name, at + name.size())) {
    const size_t after = at + name.size();
    if (!StartsWord(text, at) || after >= text.size()) continue;
    if (text[after] != ' ' && text[after] != '\t') continue;
    if (!source.InCode(source.LineAt(at)) && !source.InInlineCode(at)) continue;
    visit(at, CommandWords(text, after));
  }
}

std::string_view StripQuotes(std::string_view word) {
  while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '"' || word.back() == '\'')) word.remove_suffix(1);
  return word;
}

// !`command` runs when a client loads the file, before anybody has seen it.
void FindExpansions(const LintSource& source, LintReport& report) {
  const std::string_view text = source.text;
  for (size_t at = Find(text, "!`"); at != kNone; at = Find(text, "!`", at + 2)) {
    const char before = at == 0 ? '\n' : text[at - 1];
    if (before != ' ' && before != '\t' && before != '\n' && before != '\r') continue;
    const size_t close = text.find_first_of("`\n", at + 2);
    if (close == kNone || text[close] == '\n' || close == at + 2) continue;
    report.Add("safety-expansion", source.LineAt(at),
               "!`command` is run by some clients when they load the file");
  }
  for (size_t at = Find(text, "```!"); at != kNone; at = Find(text, "```!", at + 4)) {
    const int line = source.LineAt(at);
    if (Trim(text.substr(source.LineBegin(line), std::min<size_t>(at - source.LineBegin(line), 64)))
            .empty()) {
      report.Add("safety-expansion", line, "a block ```! is run by some clients at load time");
    }
  }
}

// Counters and fixed clocks need root and are what a kernel author must do.
bool IsAllowedSudo(const std::vector<std::string_view>& words) {
  static constexpr std::string_view kClocks[] = {"-lgc",
                                                 "-rgc",
                                                 "-lmc",
                                                 "-rmc",
                                                 "-ac",
                                                 "-rac",
                                                 "-pm",
                                                 "--lock-gpu-clocks",
                                                 "--reset-gpu-clocks",
                                                 "--lock-memory-clocks",
                                                 "--reset-memory-clocks",
                                                 "--applications-clocks",
                                                 "--reset-applications-clocks",
                                                 "--persistence-mode"};
  size_t i = 0;
  while (i < words.size() && (words[i][0] == '-' || words[i].find('=') != kNone)) ++i;
  if (i == words.size()) return true;  // no command
  const std::string_view name = words[i].substr(words[i].rfind('/') + 1);
  if (name == "ncu") return true;
  if (name != "nvidia-smi") return false;
  return std::any_of(words.begin() + static_cast<long>(i), words.end(), [](std::string_view word) {
    return std::find(std::begin(kClocks), std::end(kClocks), word.substr(0, word.find('='))) !=
           std::end(kClocks);
  });
}

// The whole of a disk, a home, a working folder, or a folder of the system.
bool IsDangerousTarget(std::string_view word) {
  static constexpr std::string_view kTargets[] = {
      "/",         "/*",     "~",       "~/",      "~/*",
      "$HOME",     "$HOME/", "$HOME/*", "${HOME}", "${HOME}/",
      "${HOME}/*", ".",      "./",      "./*",     "..",
      "../",       "*",      ".*",      "$PWD",    "--no-preserve-root"};
  static constexpr std::string_view kSystem[] = {"bin", "boot", "dev",  "etc",  "home",
                                                 "lib", "opt",  "proc", "root", "sbin",
                                                 "srv", "sys",  "usr",  "var"};
  word = StripQuotes(word);
  if (std::find(std::begin(kTargets), std::end(kTargets), word) != std::end(kTargets)) return true;
  if (word.size() < 2 || word[0] != '/') return false;
  std::string_view folder = word.substr(1);
  if (folder.ends_with("/*")) folder.remove_suffix(2);
  if (folder.ends_with('/')) folder.remove_suffix(1);
  return std::find(std::begin(kSystem), std::end(kSystem), folder) != std::end(kSystem);
}

bool IsDangerousRemoval(const std::vector<std::string_view>& words) {
  bool recursive = false, force = false, dangerous = false;
  for (std::string_view word : words) {
    if (word[0] != '-') {
      dangerous = dangerous || IsDangerousTarget(word);
      continue;
    }
    const bool is_long = word.starts_with("--");
    recursive =
        recursive || word == "--recursive" || (!is_long && word.find_first_of("rR") != kNone);
    force = force || word == "--force" || (!is_long && word.find('f') != kNone);
    dangerous = dangerous || word == "--no-preserve-root";
  }
  return recursive && force && dangerous;
}

struct Installer {
  std::string_view command;
  std::string_view pin;  // what a pinned package contains
};

constexpr Installer kInstallers[] = {
    {"pip install", "="}, {"pip3 install", "="}, {"npm install", "@"}, {"npm i", "@"},
    {"npx", "@"},         {"pnpm add", "@"},     {"yarn add", "@"},
};

// "" if all is pinned; else the first package that is not.
std::string_view UnpinnedPackage(const std::vector<std::string_view>& words, std::string_view pin) {
  bool skip = false;
  for (std::string_view word : words) {
    word = StripQuotes(word);
    if (skip || word.empty() || word[0] == '-') {
      // Options whose next word is a file or an address, not a package.
      skip = !skip && (word == "-r" || word == "-c" || word == "-e" || word == "-i" ||
                       word == "--requirement" || word == "--index-url" || word == "-f" ||
                       word == "--extra-index-url" || word == "-t" || word == "--prefix");
      continue;
    }
    if (word[0] == '#' || word[0] == '\\' || word[0] == '>') return {};
    const bool named = (IsAlnum(word[0]) && !IsDigit(word[0])) || word[0] == '@';
    if (!named) continue;  // a path, a variable, a placeholder
    if (word.find("://") != kNone || word.find('/') == word.size() - 1) continue;
    const bool latest = word.ends_with("@latest");
    if (latest || word.find(pin, 1) == kNone) return word;
    if (pin == "@") return {};
  }
  return {};
}

}  // namespace

void LintShell(const LintSource& source, LintReport& report) {
  FindExpansions(source, report);
  ForEachCommand(source, "sudo", [&](size_t at, const auto& words) {
    if (IsAllowedSudo(words)) return;
    report.Add("safety-sudo", source.LineAt(at), "a command is run as root");
  });
  ForEachCommand(source, "rm", [&](size_t at, const auto& words) {
    if (!IsDangerousRemoval(words)) return;
    report.Add("safety-rm-rf", source.LineAt(at), "rm -rf of a home, a root or a system folder");
  });
  for (const Installer& installer : kInstallers) {
    ForEachCommand(source, installer.command, [&](size_t at, const auto& words) {
      const std::string_view package = UnpinnedPackage(words, installer.pin);
      if (package.empty()) return;
      report.Add("safety-unpinned-install", source.LineAt(at),
                 Quoted(package) + " is installed in whatever version there is that day");
    });
  }
}

}  // namespace kb
