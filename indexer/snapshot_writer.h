// Builds the sections of a snapshot from documents' term rows, and writes them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/snapshot.h"
#include "indexer/terms.h"

namespace kb {

struct SnapshotDocument {
  DocRecord record;    // row, kind, state and is_main; the rest is filled in
  std::string bundle;  // its key; documents of one bundle stand together, the main one first
  DocumentTerms terms;
};

struct ScoredField {
  Rows<Packed> postings;
  std::vector<float> lengths;
};

// All sections but the vectors, in memory.
struct SnapshotContents {
  std::vector<DocRecord> docs;
  std::vector<BundleRecord> bundles;
  std::vector<uint32_t> chunk_doc;
  std::vector<uint8_t> chunk_apparatus;
  std::vector<uint32_t> df;  // by term: chunks whose body holds it
  Rows<TermId> paths, titles, stated, names, descriptions, headings;
  Rows<Packed> bodies;
  ScoredField chunk_field, doc_field, main_field, description_field;
  std::vector<float> description_mass;  // by bundle: sum of idf over its description's terms
};

// How often a term of each part counts in the chunk and the document field. Fitted on
// skill-routing requests, see ARCHITECTURE.md.
inline constexpr uint32_t kNameInChunk = 3, kTitleInChunk = 2, kHeadingInChunk = 2,
                          kDescriptionInChunk = 1, kNameInDoc = 3, kDescriptionInDoc = 3;

// Throws Error if there are more chunks or terms than a Packed holds.
[[nodiscard]] SnapshotContents AssembleSnapshot(const std::vector<SnapshotDocument>& documents,
                                                size_t term_count);

// What the dense leg needs; empty vectors: none. All row-major.
struct SnapshotVectors {
  VectorMeta meta;
  std::vector<float> chunks;   // chunks x dim
  std::vector<float> bundles;  // bundles x dim: name and description
  std::vector<uint32_t> lsa_columns;
  std::vector<float> lsa_idf, lsa_matrix;
  std::string approximate;  // BuildApproximate of `chunks`, if there are very many
};

// The (term, count) row that stands for each chunk, then for each bundle, when vectors are made:
// body, heading, title and name; name and description. Rows whose vectors are known already are
// left empty: those of documents for which `skip` is true (of a bundle: its first document).
[[nodiscard]] Rows<Packed> VectorRows(const SnapshotContents& contents,
                                      const std::function<bool(size_t doc)>& skip);

// `terms` by id. Throws Error; nothing is left behind then.
void WriteSnapshot(const std::string& path, const SnapshotContents& contents,
                   const std::vector<std::string_view>& terms, const SnapshotVectors& vectors);

}  // namespace kb
