// What the files of the cheat lint share. All scans are linear in the source.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tdd/candidate.h"
#include "tdd/cuda_text.h"

namespace kb {

// One file of a candidate and the findings on it: one a rule and line, at most 200.
class CheatFile {
 public:
  CheatFile(const Case& for_case, const Candidate& candidate, const std::string& name,
            std::string_view source);
  void Add(Severity severity, const std::string& rule, int line, std::string message,
           std::string mend);
  void AddAt(Severity severity, const std::string& rule, size_t offset, std::string message,
             std::string mend);
  [[nodiscard]] bool host() const { return candidate.kind == CandidateKind::kHost; }

  const Case& for_case;
  const Candidate& candidate;
  const CudaText text;
  const std::string plain;  // text.code with directives as blanks
  Diagnostics found;

 private:
  std::string path_;
  std::set<std::pair<std::string, int>> seen_;
};

void FindCheatWords(CheatFile& file);      // names and strings of a table
void FindHiddenCode(CheatFile& file);      // includes, pasted names, trigraphs
void FindLastingState(CheatFile& file);    // variables that outlive a call, constructors
void FindNarrowTypes(CheatFile& file);     // half, bf16, tf32, fp8 below the case's dtypes
void FindAddressKeys(CheatFile& file);     // addresses as numbers, pointers compared
void FindDefaultStreams(CheatFile& file);  // host: launches beside the stream that is timed

// The identifier that begins at `at`, "" if none does.
[[nodiscard]] std::string_view WordAt(std::string_view code, size_t at);
// The first place at or after `at` that is no blank or line end; `code.size()` at the end.
[[nodiscard]] size_t SkipBlanks(std::string_view code, size_t at);
// The place after the bracket that closes the one at `open`; `code.size()` if none does.
[[nodiscard]] size_t AfterBracket(std::string_view code, size_t open);

}  // namespace kb
