// Any bytes as text: terms are bounded, never empty, in lower case and the same each time; a
// text beside another, with a space between, loses none of its terms.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "indexer/tokenizer.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> terms = kb::Tokenize(text);
  for (const std::string& term : terms) {
    Check(!term.empty() && term.size() <= kb::kMaxTermBytes);
    for (const char c : term) Check(c < 'A' || c > 'Z');
  }
  Check(terms.size() <= 8 * size);  // no short text has a great many terms
  Check(terms == kb::Tokenize(text));

  kb::Tokenizer used;  // one that remembers gives what a new one gives
  for (int i = 0; i < 2; ++i) {
    std::vector<std::string> again;
    used.ForEachTerm(text, [&](std::string_view term) { again.emplace_back(term); });
    Check(again == terms);
  }

  const size_t half = size / 2;
  std::vector<std::string> parts = kb::Tokenize(text.substr(0, half));
  const std::vector<std::string> rest = kb::Tokenize(text.substr(half));
  parts.insert(parts.end(), rest.begin(), rest.end());
  Check(parts == kb::Tokenize(text.substr(0, half) + " " + text.substr(half)));

  std::set<std::string> seen;
  for (const std::string& name : kb::Identifiers(text)) {
    Check(!name.empty() && text.find(name) != std::string::npos);
    Check(seen.insert(name).second);
  }
  return 0;
}
