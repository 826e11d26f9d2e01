// How an answer looks in JSON, and the snippets of its hits.
#pragma once

#include <string>
#include <vector>

#include "cli/snippet.h"
#include "indexer/retriever.h"
#include "kb/value.h"

namespace kb {

inline constexpr int kSnippetCells = 160;  // when no terminal says less

// At most `cells` cells of the hit's passage, or, if that is a heading alone, of what its
// document says of itself.
[[nodiscard]] std::vector<SnippetWord> SnippetOf(Retriever& retriever, const Hit& hit,
                                                 const std::string& query, int cells);

// A stable schema:
//   {query, variant, generation, nothing_applies, confidence, threshold, why,
//    hits: [HIT...], nearest_miss: HIT or null}
//   HIT: {rank, score, bundle_id, chunk, ordinal, heading, lines: [first, last], snippet,
//         document: DocumentJson, features: [{name, value, weight, contribution}...]}
// `document` holds sha256, path, trust, license, scope; `kb get` takes "ID#CHUNK".
[[nodiscard]] Value AnswerJson(Retriever& retriever, const Answer& answer, const Query& query,
                               const std::string& variant);

}  // namespace kb
