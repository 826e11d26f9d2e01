// Writes what an agent reads: a few items that fit a token budget, marked with origin,
// trust and digest, so that retrieved text cannot pass for an instruction of ours.
#pragma once

#include <string>

#include "indexer/retriever.h"

namespace kb {

enum class ContextFormat { kMarkdown, kXml, kJson };

struct ContextOptions {
  int budget_tokens = 2000;  // never exceeded, by CountTokens over the whole output
  int max_items = 3;
  ContextFormat format = ContextFormat::kMarkdown;
};

struct Context {
  std::string text;  // the whole output, ends with a newline; "" only if budget is tiny
  int tokens = 0;    // CountTokens(text), <= budget_tokens
  int items = 0;     // whole or cut items that the text holds
  int left_out = 0;  // hits named in one line each with the command that fetches them
  bool nothing_applies = false;
};

// Searches with `query` (its k is chosen here) and writes the answer. Deterministic.
[[nodiscard]] Context WriteContext(Retriever& retriever, const Query& query,
                                   const ContextOptions& options);

// `text` with everything escaped that looks like one of our delimiters (<kb-...>, </kb-...>).
[[nodiscard]] std::string EscapeDelimiters(std::string_view text);

}  // namespace kb
