// The code-aware tokenizer: the same for documents and questions, so that an identifier is
// always found.
//
// A run is letters, digits and '_' joined by '.', '-' or '::'. It gives
//   - itself, lower-case, if it is an identifier (holds '_', '.', or "::" between parts);
//   - each part, a word without its plural s;
//   - for a camel-case part, the pieces too: cudaFuncSetAttribute -> cuda func set attribute.
// Stop words and single letters but c, r, q are left out. Text that is not ASCII: a run of
// other letters is a word of its own, an ideograph a term of its own; invalid UTF-8 separates.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kb {

inline constexpr size_t kMaxTermBytes = 64;

class Tokenizer {
 public:
  // Calls emit(std::string_view term) for each term in order, repeats kept. What a run gives is
  // remembered, so one object per thread and a few of them a program.
  template <typename Emit>
  void ForEachTerm(std::string_view text, const Emit& emit) {
    for (size_t at = 0; at < text.size();) {
      const std::string_view run = NextRun(text, &at);
      if (run.empty()) continue;
      for (const std::string& term : Terms(run)) emit(std::string_view(term));
    }
  }

 private:
  // The next run at or after *at, advancing *at past it; "" if the character there starts none.
  static std::string_view NextRun(std::string_view text, size_t* at);
  const std::vector<std::string>& Terms(std::string_view run);
  static std::vector<std::string> Expand(std::string_view run);

  std::unordered_map<std::string, std::vector<std::string>> seen_;
  std::vector<std::string> scratch_;
};

// Lower-case terms of `text`, in order, repeats kept.
[[nodiscard]] std::vector<std::string> Tokenize(std::string_view text);

// The whole identifiers of a question as written, once each, in order: runs with '_', '.',
// "::", inner capitals, or letters next to digits. Not prose, not plain numbers.
[[nodiscard]] std::vector<std::string> Identifiers(std::string_view text);

}  // namespace kb
