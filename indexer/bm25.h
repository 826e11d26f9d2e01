// BM25 over one field of a snapshot (Robertson and Zaragoza, The Probabilistic Relevance
// Framework: BM25 and Beyond, 2009).
#pragma once

#include <string_view>
#include <vector>

#include "indexer/snapshot.h"

namespace kb {

struct QueryTerm {
  TermId id = kNoTerm;  // kNoTerm: the index does not have it
  float weight = 0;     // 1 + ln(times in the question); less for another name of a thing in it
  float idf = 0;        // of the snapshot; the highest possible for an unknown term
  bool alias = false;   // not in the question: another name for something that is
};

// Distinct terms in order of first appearance, and their neighbours.
struct QueryTerms {
  std::vector<QueryTerm> terms;
  // Neighbouring known terms of the question (stop words left out), distinct.
  std::vector<std::pair<TermId, TermId>> pairs;
  float mass = 0;     // sum of weight * idf
  float top_idf = 0;  // idf of a term that no passage has
};

[[nodiscard]] QueryTerms ReadQuery(const Snapshot& snapshot, const std::vector<std::string>& terms);

// Adds known terms that the question might have used instead. They score, but count neither in
// the mass nor in the pairs: a question is not surer for having synonyms.
void AddAlias(const Snapshot& snapshot, const std::vector<std::string>& terms, float weight,
              QueryTerms* query);

struct Bm25 {
  float k1 = 1.2f;
  float b = 0.75f;
};

// One score a unit: sum over terms of weight * idf * tf (k1 + 1) / (tf + k1 (1 - b + b len/avg)).
[[nodiscard]] std::vector<float> ScoreField(const FieldView& field,
                                            const std::vector<QueryTerm>& terms, Bm25 bm25);

}  // namespace kb
