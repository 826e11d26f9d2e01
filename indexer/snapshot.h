// The index as it is searched: postings, term rows and vectors of one generation, mapped from
// `.kb/index-<generation>`. Immutable; thread-safe. Layout: SectionFile with the sections below.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/section_file.h"
#include "indexer/terms.h"

namespace kb {

inline constexpr uint32_t kSnapshotVersion = 2;

// A document, in order of (bundle, main first, path).
struct DocRecord {
  int64_t row = 0;  // of the catalog
  uint32_t bundle = 0;
  uint32_t first_chunk = 0;
  uint32_t chunk_count = 0;
  uint8_t kind = 0;   // Kind
  uint8_t state = 0;  // EvidenceState
  uint8_t is_main = 0;
  uint8_t unused = 0;
};

struct BundleRecord {
  uint32_t first_doc = 0;  // the main document if the bundle has one
  uint32_t doc_count = 0;
};

// What a document's own state says of its trust; order is that of the evidence feature.
enum class EvidenceState : uint8_t { kNone, kProved, kReplicated, kStale, kRefuted };
[[nodiscard]] EvidenceState ParseEvidenceState(std::string_view state);

// Rows of varying length: row i is items[offsets[i] .. offsets[i + 1]).
template <typename T>
struct RowsView {
  std::span<const uint64_t> offsets;
  std::span<const T> items;
  [[nodiscard]] size_t size() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  // Empty for a row that is not there, or if the file's offsets are damaged.
  [[nodiscard]] std::span<const T> operator[](size_t i) const {
    if (i >= size() || offsets[i] > offsets[i + 1] || offsets[i + 1] > items.size()) return {};
    return items.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

template <typename T>
struct Rows {
  std::vector<uint64_t> offsets = {0};
  std::vector<T> items;
  void Append(std::span<const T> row) {
    items.insert(items.end(), row.begin(), row.end());
    offsets.push_back(items.size());
  }
  [[nodiscard]] RowsView<T> view() const { return {offsets, items}; }
};

// One scored field: for each term the units (chunks, documents or bundles) that hold it, with
// effective counts, and each unit's length in effective counts.
struct FieldView {
  RowsView<Packed> postings;       // by term
  std::span<const float> lengths;  // by unit
};

// Section ids. A Rows takes two: offsets, then items.
enum SectionId : uint32_t {
  kDocs = 1,
  kBundles,
  kChunkDoc,
  kChunkApparatus,  // uint8_t by chunk: 1 for a list of sources
  kTermOffsets,
  kTermBytes,
  kTermHash,
  kTermDf,
  kPathRows = 20,
  kTitleRows = 22,
  kStatedRows = 24,
  kNameRows = 26,
  kDescriptionRows = 28,
  kBodyRows = 30,
  kHeadingRows = 32,
  kChunkField = 40,
  kDocField = 43,
  kMainField = 46,
  kDescriptionField = 49,
  kDescriptionMass = 52,
  kVectorMeta = 60,
  kChunkVectors,
  kBundleVectors,
  kLsaColumns,
  kLsaIdf,
  kLsaMatrix,
  kIvf,
};

// What embedded the vectors.
struct VectorMeta {
  uint32_t dim = 0;             // 0: no vectors
  uint32_t trained_chunks = 0;  // lsa: chunks there were when it was trained
  uint32_t drifted_chunks = 0;  // lsa: chunks added or removed since
  uint32_t reserved = 0;
  char fingerprint[240] = {};  // NUL-terminated Embedder::fingerprint
};

class Snapshot {
 public:
  // Throws Error if the file is missing, damaged or of another version.
  explicit Snapshot(const std::string& path);

  [[nodiscard]] std::span<const DocRecord> docs() const { return docs_; }
  [[nodiscard]] std::span<const BundleRecord> bundles() const { return bundles_; }
  [[nodiscard]] std::span<const uint32_t> chunk_doc() const { return chunk_doc_; }
  [[nodiscard]] size_t term_count() const { return df_.size(); }

  // kNoTerm if no document has it.
  [[nodiscard]] TermId FindTerm(std::string_view term) const;
  [[nodiscard]] std::string_view Term(TermId id) const;
  // InverseFrequency with all chunks and those whose body has the term (Robertson and Zaragoza
  // 2009, as Lucene has it).
  [[nodiscard]] float Idf(TermId id) const;

  // Scored fields: chunk (unit: chunk), document (unit: document), main (unit: bundle, its main
  // document's body) and description (unit: bundle).
  [[nodiscard]] FieldView Field(SectionId id) const;
  [[nodiscard]] RowsView<TermId> Sequence(SectionId id) const;  // path .. description, heading
  [[nodiscard]] RowsView<Packed> body_rows() const;
  [[nodiscard]] DocumentTerms TermsOf(size_t doc) const;

  [[nodiscard]] const VectorMeta& vector_meta() const;
  [[nodiscard]] const SectionFile& file() const { return *file_; }

 private:
  std::unique_ptr<SectionFile> file_;
  std::span<const DocRecord> docs_;
  std::span<const BundleRecord> bundles_;
  std::span<const uint32_t> chunk_doc_;
  std::span<const uint64_t> term_offsets_;
  std::span<const char> term_bytes_;
  std::span<const uint32_t> term_hash_;
  std::span<const uint32_t> df_;
};

// ln(1 + (n - df + 0.5) / (df + 0.5)).
[[nodiscard]] float InverseFrequency(size_t n, size_t df);

// The hash of the term table: FNV-1a, 64 bits.
[[nodiscard]] uint64_t HashTerm(std::string_view term);

}  // namespace kb
