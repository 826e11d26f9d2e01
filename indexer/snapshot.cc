#include "indexer/snapshot.h"

#include <cmath>

namespace kb {
namespace {

template <typename T>
RowsView<T> ReadRows(const SectionFile& file, uint32_t id) {
  return {file.Section<uint64_t>(id), file.Section<T>(id + 1)};
}

template <typename T>
std::vector<T> Copy(std::span<const T> row) {
  return {row.begin(), row.end()};
}

}  // namespace

EvidenceState ParseEvidenceState(std::string_view state) {
  if (state == "proved") return EvidenceState::kProved;
  if (state == "replicated") return EvidenceState::kReplicated;
  if (state == "stale") return EvidenceState::kStale;
  if (state == "refuted") return EvidenceState::kRefuted;
  return EvidenceState::kNone;
}

uint64_t HashTerm(std::string_view term) {
  uint64_t h = 14695981039346656037ull;
  for (const char c : term) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

Snapshot::Snapshot(const std::string& path)
    : file_(std::make_unique<SectionFile>(path, kSnapshotVersion)),
      docs_(file_->Section<DocRecord>(kDocs)),
      bundles_(file_->Section<BundleRecord>(kBundles)),
      chunk_doc_(file_->Section<uint32_t>(kChunkDoc)),
      term_offsets_(file_->Section<uint64_t>(kTermOffsets)),
      term_bytes_(file_->Section<char>(kTermBytes)),
      term_hash_(file_->Section<uint32_t>(kTermHash)),
      df_(file_->Section<uint32_t>(kTermDf)) {}

std::string_view Snapshot::Term(TermId id) const {
  const RowsView<char> terms = {term_offsets_, term_bytes_};
  const std::span<const char> term = terms[id];
  return {term.data(), term.size()};
}

TermId Snapshot::FindTerm(std::string_view term) const {
  if (term_hash_.empty()) return kNoTerm;
  const size_t mask = term_hash_.size() - 1;
  size_t slot = HashTerm(term) & mask;
  for (size_t probes = 0; probes <= mask; ++probes, slot = (slot + 1) & mask) {
    const TermId id = term_hash_[slot];
    if (id == kNoTerm) return kNoTerm;
    if (Term(id) == term) return id;
  }
  return kNoTerm;
}

float InverseFrequency(size_t n, size_t df) {
  const auto all = static_cast<double>(n), having = static_cast<double>(df);
  return static_cast<float>(std::log(1.0 + (all - having + 0.5) / (having + 0.5)));
}

float Snapshot::Idf(TermId id) const {
  return InverseFrequency(chunk_doc_.size(), id < df_.size() ? df_[id] : 0);
}

FieldView Snapshot::Field(SectionId id) const {
  return {ReadRows<Packed>(*file_, id), file_->Section<float>(id + 2)};
}

RowsView<TermId> Snapshot::Sequence(SectionId id) const { return ReadRows<TermId>(*file_, id); }

RowsView<Packed> Snapshot::body_rows() const { return ReadRows<Packed>(*file_, kBodyRows); }

DocumentTerms Snapshot::TermsOf(size_t doc) const {
  DocumentTerms terms;
  terms.path = Copy(Sequence(kPathRows)[doc]);
  terms.title = Copy(Sequence(kTitleRows)[doc]);
  terms.stated = Copy(Sequence(kStatedRows)[doc]);
  terms.name = Copy(Sequence(kNameRows)[doc]);
  terms.description = Copy(Sequence(kDescriptionRows)[doc]);
  const RowsView<Packed> bodies = body_rows();
  const std::span<const uint8_t> apparatus = file_->Section<uint8_t>(kChunkApparatus);
  const RowsView<TermId> headings = Sequence(kHeadingRows);
  for (uint32_t i = 0; i < docs_[doc].chunk_count; ++i) {
    const size_t chunk = docs_[doc].first_chunk + i;
    terms.chunks.push_back({Copy(bodies[chunk]), Copy(headings[chunk]),
                            chunk < apparatus.size() && apparatus[chunk] != 0});
  }
  return terms;
}

const VectorMeta& Snapshot::vector_meta() const {
  static const VectorMeta none;
  const std::span<const VectorMeta> meta = file_->Section<VectorMeta>(kVectorMeta);
  return meta.empty() ? none : meta[0];
}

}  // namespace kb
