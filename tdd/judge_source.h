// The judge's own program (tdd/judge/ and the header of cases), carried inside kb as text: so kb
// builds a judge wherever a C++ compiler is, with no source tree at hand.
#pragma once

#include <span>
#include <string_view>

namespace kb {

struct SourceFile {
  std::string_view path;  // from the top of the source tree
  std::string_view text;
};

[[nodiscard]] std::span<const SourceFile> JudgeSourceFiles();

// tdd/kb_candidate.h, for candidates of kind host.
[[nodiscard]] std::string_view CandidateHeader();

}  // namespace kb
