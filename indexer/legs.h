// The parts of a score, one value a bundle each: what the retriever mixes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "indexer/bm25.h"
#include "indexer/snapshot.h"

namespace kb {

enum Leg { kLegChunk, kLegDoc, kLegMain, kLegPair, kLegCoverage, kLegDense, kLegEvidence, kLegs };

struct LegWeight {
  const char* name;
  double weight;
  const char* meaning;  // for --explain and the documentation
};

// All weights are 1: fitted weights (conditional logit, cross-validated by skill) came out between
// 0.4 and 0.8 for each leg and ranked no better. BM25 legs are divided by the question's mass,
// which puts all legs on one scale. See ARCHITECTURE.md for the figures.
inline constexpr std::array<LegWeight, kLegs> kLegTable = {{
    {"bm25_chunk", 1.0, "best passage, with its headings, title, name and description"},
    {"bm25_document", 1.0, "best file of the bundle, with name and description thrice"},
    {"bm25_main", 1.0, "body of the bundle's main file"},
    {"pairs", 1.0, "neighbouring words of the question that stand so in the description"},
    {"coverage", 1.0, "share of the description that the question names"},
    {"dense", 1.0, "mean cosine of the question to the description and to the best passage"},
    {"evidence", 1.0, "proved and replicated entries up, stale ones down"},
}};

struct LegScores {
  std::array<std::vector<float>, kLegs> by_bundle;
  std::vector<uint32_t> best_chunk;  // by bundle: of the index; kNoTerm if it has none
};

// The weight of a leg in this index: that of the table, but LSA trained on few passages knows few
// synonyms and is trusted less: by ln(passages) / ln(9,112), at most 1. Weight 1 was best with
// 9,112 passages, about half of it with 84 (ARCHITECTURE.md).
[[nodiscard]] double WeightOf(Leg leg, const Snapshot& snapshot);

// All lexical legs and evidence; the dense one stays empty.
[[nodiscard]] LegScores ScoreLexicalLegs(const Snapshot& snapshot, const QueryTerms& query);

// The dense leg for the question's vector (dim long; zeros: unknown). Passages are searched
// exactly up to kExactVectors of them, by FAISS above.
[[nodiscard]] std::vector<float> ScoreDenseLeg(const Snapshot& snapshot,
                                               const std::vector<float>& query);

}  // namespace kb
