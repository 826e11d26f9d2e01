#include "indexer/snapshot_writer.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "kb/error.h"

namespace kb {
namespace {

// Counts terms of one unit; reused for the next, so that its memory is paid once.
class RowCounter {
 public:
  explicit RowCounter(size_t term_count) : counts_(term_count, 0) {}

  void Add(std::span<const TermId> terms, uint32_t times = 1) {
    for (const TermId id : terms) AddOne(id, times);
  }
  void AddCounts(std::span<const Packed> row) {
    for (const Packed p : row) AddOne(PackedId(p), PackedCount(p));
  }
  // The row by id; `*length` (may be null) is the sum of its counts. Empties the counter.
  std::vector<Packed> Take(float* length = nullptr) {
    std::sort(touched_.begin(), touched_.end());
    std::vector<Packed> row;
    row.reserve(touched_.size());
    float sum = 0;
    for (const TermId id : touched_) {
      row.push_back(Pack(id, counts_[id]));
      sum += static_cast<float>(counts_[id]);
      counts_[id] = 0;
    }
    touched_.clear();
    if (length != nullptr) *length = sum;
    return row;
  }

 private:
  void AddOne(TermId id, uint32_t times) {
    if (id >= counts_.size()) return;
    if (counts_[id] == 0) touched_.push_back(id);
    counts_[id] += times;
  }

  std::vector<uint32_t> counts_;
  std::vector<TermId> touched_;
};

// Rows by unit -> postings by term, each list in the order of units (a counting sort).
Rows<Packed> Invert(RowsView<Packed> rows, size_t term_count) {
  Rows<Packed> out;
  out.offsets.assign(term_count + 1, 0);
  for (const Packed p : rows.items) ++out.offsets[PackedId(p) + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.items.resize(rows.items.size());
  std::vector<uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (size_t unit = 0; unit < rows.size(); ++unit) {
    for (const Packed p : rows[unit]) {
      out.items[next[PackedId(p)]++] = Pack(static_cast<uint32_t>(unit), PackedCount(p));
    }
  }
  return out;
}

class FieldBuilder {
 public:
  void Append(RowCounter* counter) {
    float length = 0;
    rows_.Append(counter->Take(&length));
    lengths_.push_back(length);
  }
  ScoredField Finish(size_t term_count) {
    return {Invert(rows_.view(), term_count), std::move(lengths_)};
  }

 private:
  Rows<Packed> rows_;
  std::vector<float> lengths_;
};

void CheckLimits(size_t chunks, size_t terms) {
  if (chunks <= kMaxPackedId && terms <= kMaxPackedId) return;
  throw Error("more than 16,777,215 passages or terms; index fewer roots");
}

void AppendSequences(const DocumentTerms& terms, SnapshotContents* out) {
  out->paths.Append(terms.path);
  out->titles.Append(terms.title);
  out->stated.Append(terms.stated);
  out->names.Append(terms.name);
  out->descriptions.Append(terms.description);
}

void AppendRecords(const std::vector<SnapshotDocument>& documents, SnapshotContents* out) {
  for (const SnapshotDocument& document : documents) {
    const bool same =
        !out->docs.empty() && documents[out->docs.size() - 1].bundle == document.bundle;
    if (!same) out->bundles.push_back({static_cast<uint32_t>(out->docs.size()), 0});
    ++out->bundles.back().doc_count;
    DocRecord record = document.record;
    record.bundle = static_cast<uint32_t>(out->bundles.size() - 1);
    record.first_chunk = static_cast<uint32_t>(out->chunk_doc.size());
    record.chunk_count = static_cast<uint32_t>(document.terms.chunks.size());
    out->chunk_doc.insert(out->chunk_doc.end(), record.chunk_count,
                          static_cast<uint32_t>(out->docs.size()));
    out->docs.push_back(record);
    AppendSequences(document.terms, out);
    for (const ChunkTerms& chunk : document.terms.chunks) {
      out->bodies.Append(chunk.body);
      out->headings.Append(chunk.heading);
      out->chunk_apparatus.push_back(chunk.apparatus ? 1 : 0);
    }
  }
}

ScoredField ChunkField(const SnapshotContents& c, size_t term_count) {
  RowCounter counter(term_count);
  FieldBuilder field;
  for (size_t chunk = 0; chunk < c.chunk_doc.size(); ++chunk) {
    const uint32_t doc = c.chunk_doc[chunk];
    const uint32_t main = c.bundles[c.docs[doc].bundle].first_doc;
    counter.AddCounts(c.bodies.view()[chunk]);
    counter.Add(c.headings.view()[chunk], kHeadingInChunk);
    counter.Add(c.titles.view()[doc], kTitleInChunk);
    counter.Add(c.names.view()[main], kNameInChunk);
    counter.Add(c.descriptions.view()[main], kDescriptionInChunk);
    field.Append(&counter);
  }
  return field.Finish(term_count);
}

ScoredField DocField(const SnapshotContents& c, size_t term_count) {
  RowCounter counter(term_count);
  FieldBuilder field;
  for (size_t doc = 0; doc < c.docs.size(); ++doc) {
    const uint32_t main = c.bundles[c.docs[doc].bundle].first_doc;
    counter.Add(c.paths.view()[doc]);
    counter.Add(c.stated.view()[doc]);
    for (uint32_t i = 0; i < c.docs[doc].chunk_count; ++i) {
      counter.AddCounts(c.bodies.view()[c.docs[doc].first_chunk + i]);
    }
    counter.Add(c.names.view()[main], kNameInDoc);
    counter.Add(c.descriptions.view()[main], kDescriptionInDoc);
    field.Append(&counter);
  }
  return field.Finish(term_count);
}

ScoredField MainField(const SnapshotContents& c, size_t term_count) {
  RowCounter counter(term_count);
  FieldBuilder field;
  for (const BundleRecord& bundle : c.bundles) {
    const DocRecord& main = c.docs[bundle.first_doc];
    for (uint32_t i = 0; i < main.chunk_count; ++i)
      counter.AddCounts(c.bodies.view()[main.first_chunk + i]);
    field.Append(&counter);
  }
  return field.Finish(term_count);
}

ScoredField DescriptionField(const SnapshotContents& c, size_t term_count) {
  RowCounter counter(term_count);
  FieldBuilder field;
  for (const BundleRecord& bundle : c.bundles) {
    counter.Add(c.descriptions.view()[bundle.first_doc]);
    field.Append(&counter);
  }
  return field.Finish(term_count);
}

// Summed in the order of the text, each term once: no trace of how terms are numbered.
std::vector<float> DescriptionMass(const SnapshotContents& c) {
  std::vector<float> masses;
  for (const BundleRecord& bundle : c.bundles) {
    std::set<TermId> seen;
    float mass = 0;
    for (const TermId id : c.descriptions.view()[bundle.first_doc]) {
      if (seen.insert(id).second) mass += InverseFrequency(c.chunk_doc.size(), c.df[id]);
    }
    masses.push_back(mass);
  }
  return masses;
}

std::vector<uint32_t> TermHash(const std::vector<std::string_view>& terms) {
  size_t slots = 16;
  while (slots < terms.size() * 2) slots *= 2;
  std::vector<uint32_t> table(slots, kNoTerm);
  for (size_t id = 0; id < terms.size(); ++id) {
    size_t slot = HashTerm(terms[id]) & (slots - 1);
    while (table[slot] != kNoTerm) slot = (slot + 1) & (slots - 1);
    table[slot] = static_cast<uint32_t>(id);
  }
  return table;
}

template <typename T>
void AddRows(SectionWriter* file, uint32_t id, const Rows<T>& rows) {
  file->Add(id, rows.offsets);
  file->Add(id + 1, rows.items);
}

void AddField(SectionWriter* file, uint32_t id, const ScoredField& field) {
  AddRows(file, id, field.postings);
  file->Add(id + 2, field.lengths);
}

}  // namespace

SnapshotContents AssembleSnapshot(const std::vector<SnapshotDocument>& documents,
                                  size_t term_count) {
  SnapshotContents out;
  AppendRecords(documents, &out);
  CheckLimits(out.chunk_doc.size(), term_count);
  out.df.assign(term_count, 0);
  for (const Packed p : out.bodies.items) ++out.df[PackedId(p)];
  out.chunk_field = ChunkField(out, term_count);
  out.doc_field = DocField(out, term_count);
  out.main_field = MainField(out, term_count);
  out.description_field = DescriptionField(out, term_count);
  out.description_mass = DescriptionMass(out);
  return out;
}

Rows<Packed> VectorRows(const SnapshotContents& c, const std::function<bool(size_t doc)>& skip) {
  RowCounter counter(c.df.size());
  Rows<Packed> rows;
  for (size_t chunk = 0; chunk < c.chunk_doc.size(); ++chunk) {
    const uint32_t doc = c.chunk_doc[chunk];
    if (!skip(doc)) {
      counter.AddCounts(c.bodies.view()[chunk]);
      counter.Add(c.headings.view()[chunk]);
      counter.Add(c.titles.view()[doc]);
      counter.Add(c.names.view()[c.bundles[c.docs[doc].bundle].first_doc]);
    }
    rows.Append(counter.Take());
  }
  for (const BundleRecord& bundle : c.bundles) {
    if (!skip(bundle.first_doc)) {
      counter.Add(c.names.view()[bundle.first_doc]);
      counter.Add(c.descriptions.view()[bundle.first_doc]);
    }
    rows.Append(counter.Take());
  }
  return rows;
}

void WriteSnapshot(const std::string& path, const SnapshotContents& contents,
                   const std::vector<std::string_view>& terms, const SnapshotVectors& vectors) {
  Rows<char> term_rows;
  for (const std::string_view term : terms) term_rows.Append(std::span(term.data(), term.size()));
  const std::vector<uint32_t> hash = TermHash(terms);
  SectionWriter file(kSnapshotVersion);
  file.Add(kDocs, contents.docs);
  file.Add(kBundles, contents.bundles);
  file.Add(kChunkDoc, contents.chunk_doc);
  file.Add(kChunkApparatus, contents.chunk_apparatus);
  file.Add(kTermOffsets, term_rows.offsets);
  file.Add(kTermBytes, term_rows.items);
  file.Add(kTermHash, hash);
  file.Add(kTermDf, contents.df);
  AddRows(&file, kPathRows, contents.paths);
  AddRows(&file, kTitleRows, contents.titles);
  AddRows(&file, kStatedRows, contents.stated);
  AddRows(&file, kNameRows, contents.names);
  AddRows(&file, kDescriptionRows, contents.descriptions);
  AddRows(&file, kBodyRows, contents.bodies);
  AddRows(&file, kHeadingRows, contents.headings);
  AddField(&file, kChunkField, contents.chunk_field);
  AddField(&file, kDocField, contents.doc_field);
  AddField(&file, kMainField, contents.main_field);
  AddField(&file, kDescriptionField, contents.description_field);
  file.Add(kDescriptionMass, contents.description_mass);
  file.Add(kVectorMeta, std::span(&vectors.meta, 1));
  file.Add(kChunkVectors, vectors.chunks);
  file.Add(kBundleVectors, vectors.bundles);
  file.Add(kLsaColumns, vectors.lsa_columns);
  file.Add(kLsaIdf, vectors.lsa_idf);
  file.Add(kLsaMatrix, vectors.lsa_matrix);
  file.Add(kIvf, std::span(vectors.approximate.data(), vectors.approximate.size()));
  file.Write(path);
}

}  // namespace kb
