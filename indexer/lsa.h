// Latent semantic analysis: a truncated SVD of the TF-IDF matrix of the indexed corpus gives
// each term a vector; a text's vector is their weighted sum. (Deerwester et al. 1990; the SVD is
// randomised subspace iteration, Halko, Martinsson and Tropp 2011, algorithm 4.4.)
// Deterministic: a fixed seed, and the same bytes for any number of threads.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "indexer/snapshot.h"

namespace kb {

struct LsaOptions {
  int dim = 128;            // at most; fewer for corpora of fewer rows or terms
  int max_columns = 20000;  // terms, the most frequent first
  int max_rows = 10000;     // rows trained on, evenly picked
  int iterations = 2;
  int threads = 2;
};

// Row-major matrix: terms that have a vector x dim.
struct LsaModel {
  int dim = 0;                    // 0: nothing to learn from
  std::vector<uint32_t> columns;  // by term id: its row of `matrix`, or kNoTerm
  std::vector<float> idf;         // by row of `matrix`: ln(N / df)
  std::vector<float> matrix;
};

// `rows`: (term, count) of each passage; `terms` by id. Terms in fewer than two rows, or in more
// than 30 % of them (of 20 rows or more), get no vector. The vectors do not depend on how terms
// are numbered, only on their spelling: an index has no memory of how it came to be.
[[nodiscard]] LsaModel TrainLsa(RowsView<Packed> rows, std::span<const std::string_view> terms,
                                const LsaOptions& options);

// A model in memory or mapped from a snapshot.
struct LsaView {
  int dim = 0;
  std::span<const uint32_t> columns;
  std::span<const float> idf;
  std::span<const float> matrix;
};
[[nodiscard]] LsaView ViewOf(const LsaModel& model);
[[nodiscard]] LsaView ViewOf(const Snapshot& snapshot);

// The vector of a row, `dim` long: length 1, or zeros if it has no known term.
[[nodiscard]] std::vector<float> EmbedRow(const LsaView& model, std::span<const Packed> row);

// Each term once with its count, by id.
[[nodiscard]] std::vector<Packed> CountTerms(std::vector<TermId> terms);

}  // namespace kb
