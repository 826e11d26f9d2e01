// CheatLint: what a source says of how it means to win. Reads text; a macro or a clever type can
// hide things from it, so it advises, and the stages after it judge.
#include <algorithm>

#include "tdd/cheat_internal.h"

namespace kb {
namespace {

std::string WithoutDirectives(std::string_view code) {
  std::string plain(code);
  for (size_t at = 0; at < plain.size();) {
    const size_t end = std::min(plain.find('\n', at), plain.size());
    const size_t first = plain.find_first_not_of(" \t\r", at);
    if (first < end && plain[first] == '#')
      std::fill_n(plain.begin() + static_cast<ptrdiff_t>(at), end - at, ' ');
    at = end + 1;
  }
  return plain;
}

}  // namespace

CheatFile::CheatFile(const Case& of_case, const Candidate& of_candidate, const std::string& name,
                     std::string_view source)
    : for_case(of_case),
      candidate(of_candidate),
      text(source),
      plain(WithoutDirectives(text.code)),
      path_(of_candidate.folder + "/" + name) {}

void CheatFile::Add(Severity severity, const std::string& rule, int line, std::string message,
                    std::string mend) {
  if (found.size() >= 200 || !seen_.insert({rule, line}).second) return;
  found.push_back({severity, rule, path_, line, std::move(message), std::move(mend)});
}

void CheatFile::AddAt(Severity severity, const std::string& rule, size_t offset,
                      std::string message, std::string mend) {
  Add(severity, rule, text.LineAt(offset), std::move(message), std::move(mend));
}

std::string_view WordAt(std::string_view code, size_t at) {
  size_t end = at;
  while (end < code.size() && IsWordCharacter(code[end])) ++end;
  return code.substr(at, end - at);
}

size_t SkipBlanks(std::string_view code, size_t at) {
  return std::min(code.find_first_not_of(" \t\r\n", at), code.size());
}

size_t AfterBracket(std::string_view code, size_t open) {
  constexpr std::string_view kOpen = "([{", kClose = ")]}";
  int depth = 0;
  for (size_t at = open; at < code.size(); ++at) {
    if (kOpen.find(code[at]) != std::string_view::npos) ++depth;
    if (kClose.find(code[at]) != std::string_view::npos && --depth == 0) return at + 1;
  }
  return code.size();
}

Diagnostics CheatLint(const Case& for_case, const Candidate& candidate) {
  Diagnostics all;
  std::vector<CandidateFile> files = {{candidate.source, candidate.source_text}};
  files.insert(files.end(), candidate.files.begin(), candidate.files.end());
  for (const CandidateFile& source : files) {
    CheatFile file(for_case, candidate, source.name, source.text);
    FindCheatWords(file);
    FindHiddenCode(file);
    FindLastingState(file);
    FindNarrowTypes(file);
    FindAddressKeys(file);
    FindDefaultStreams(file);
    std::stable_sort(file.found.begin(), file.found.end(),
                     [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; });
    all.insert(all.end(), file.found.begin(), file.found.end());
  }
  return all;
}

}  // namespace kb
