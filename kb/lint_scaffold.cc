// What kb new leaves to be written: "[fill in: ...]".
#include "kb/lint_internal.h"

namespace kb {

void LintScaffold(const LintSource& source, LintReport& report) {
  constexpr std::string_view kMark = "[fill in: ";
  for (size_t at = Find(source.text, kMark); at != std::string_view::npos;
       at = Find(source.text, kMark, at + kMark.size())) {
    const int line = source.LineAt(at);
    const size_t begin = at + kMark.size();
    const std::string_view rest = source.text.substr(begin, source.LineEnd(line) - begin);
    report.Add("scaffold-placeholder", line,
               "still to be written: " + Quoted(rest.substr(0, rest.find(']'))));
  }
}

}  // namespace kb
