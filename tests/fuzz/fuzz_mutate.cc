// Whatever the source: each mutant differs from it, in the lines it names and no others, keeps
// the number of lines, and the original comes back when its diff is reversed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tdd/mutate.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string Signed(char sign, std::string_view lines) {
  std::string text(1, sign);
  for (char c : lines) text += c == '\n' ? std::string("\n") + sign : std::string(1, c);
  return text;
}

size_t BeginOfLine(std::string_view text, int line) {
  size_t at = 0;
  for (int i = 1; i < line; ++i) {
    at = text.find('\n', at);
    Require(at != std::string_view::npos);
    ++at;
  }
  return at;
}

void Check(const kb::Mutant& mutant, std::string_view source) {
  Require(mutant.line >= 1 && mutant.column >= 1 && mutant.source != source);
  Require(std::count(mutant.was.begin(), mutant.was.end(), '\n') ==
          std::count(mutant.now.begin(), mutant.now.end(), '\n'));
  Require(mutant.diff == Signed('-', mutant.was) + "\n" + Signed('+', mutant.now));
  const size_t begin = BeginOfLine(mutant.source, mutant.line);
  Require(std::string_view(mutant.source).substr(begin).starts_with(mutant.now));
  std::string original = mutant.source.substr(0, begin) + mutant.was;
  original += mutant.source.substr(begin + mutant.now.size());
  Require(original == source);
  const size_t at = begin + static_cast<size_t>(mutant.column) - 1;
  Require(source.substr(0, at) == std::string_view(mutant.source).substr(0, at));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(bytes), size);
  for (const kb::Mutant& mutant : kb::MutateSource(source, 200)) Check(mutant, source);
  const std::string body = "void f() {" + std::string(source) + "}";
  for (const kb::Mutant& mutant : kb::MutateSource(body, 200)) Check(mutant, body);
  return 0;
}
