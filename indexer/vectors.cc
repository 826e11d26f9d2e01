#include "indexer/vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "indexer/http_embedder.h"
#include "indexer/lsa.h"
#include "indexer/model2vec.h"
#include "indexer/parallel.h"
#include "indexer/vector_index.h"
#include "kb/error.h"

namespace kb {
namespace {

constexpr size_t kTextBatch = 256;

void SetFingerprint(std::string_view fingerprint, VectorMeta* meta) {
  std::memset(meta->fingerprint, 0, sizeof(meta->fingerprint));
  std::memcpy(meta->fingerprint, fingerprint.data(),
              std::min(fingerprint.size(), sizeof(meta->fingerprint) - 1));
}

// Row i of the result is row from(i) of `old`, or where that is SIZE_MAX the vector of row i.
std::vector<float> EmbedRows(const LsaView& model, RowsView<Packed> rows, int threads,
                             std::span<const float> old,
                             const std::function<size_t(size_t)>& from) {
  const auto dim = static_cast<size_t>(model.dim);
  std::vector<float> out(rows.size() * dim);
  ParallelFor(rows.size(), threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const auto to = out.begin() + static_cast<std::ptrdiff_t>(i * dim);
      const size_t kept = from(i);
      if (kept != SIZE_MAX && (kept + 1) * dim <= old.size()) {
        std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(kept * dim), dim, to);
        continue;
      }
      const std::vector<float> row = EmbedRow(model, rows[i]);
      std::copy(row.begin(), row.end(), to);
    }
  });
  return out;
}

// Passages that are in one of the two generations only.
size_t CountDrift(const VectorInput& input) {
  size_t added = 0, kept = 0;
  for (size_t doc = 0; doc < input.old_docs.size(); ++doc) {
    (input.old_docs[doc] == kNoTerm ? added : kept) += input.contents->docs[doc].chunk_count;
  }
  const size_t before = input.old->chunk_doc().size();
  return added + (before > kept ? before - kept : 0);
}

bool MustTrain(const VectorInput& input, size_t drift) {
  const size_t chunks = input.contents->chunk_doc.size();
  if (input.old == nullptr || chunks <= kAlwaysTrain) return true;
  if (ViewOf(*input.old).dim == 0) return true;
  const double trained = input.old->vector_meta().trained_chunks;
  return static_cast<double>(drift) > kRetrainShare * trained;
}

// The first `n` rows, or the rest of them.
RowsView<Packed> First(const Rows<Packed>& rows, size_t n) {
  return {std::span(rows.offsets).first(n + 1), rows.items};
}
RowsView<Packed> Rest(const Rows<Packed>& rows, size_t n) {
  return {std::span(rows.offsets).subspan(n), rows.items};
}

template <typename T>
std::vector<T> Copy(std::span<const T> values) {
  return {values.begin(), values.end()};
}

void AddApproximate(SnapshotVectors* out) {
  const auto dim = static_cast<int>(out->meta.dim);
  if (dim == 0 || static_cast<int64_t>(out->chunks.size()) / dim <= kExactVectors) return;
  out->approximate = BuildApproximate(out->chunks, dim);
}

// Vectors row by row: copied from the old snapshot where `old_row` says so, else made in batches.
std::vector<float> EmbedTexts(size_t n, size_t dim, const Embedder& embedder,
                              std::span<const float> old,
                              const std::function<size_t(size_t)>& old_row,
                              const std::function<std::string(size_t)>& text) {
  std::vector<float> out(n * dim, 0.0f);
  std::vector<size_t> rows;
  std::vector<std::string> texts;
  const auto flush = [&] {
    if (texts.empty()) return;
    const std::vector<float> made = embedder.Embed(texts);
    for (size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(made.begin() + static_cast<std::ptrdiff_t>(i * dim), dim,
                  out.begin() + static_cast<std::ptrdiff_t>(rows[i] * dim));
    }
    rows.clear();
    texts.clear();
  };
  for (size_t i = 0; i < n; ++i) {
    const size_t from = old_row(i);
    if (from != SIZE_MAX && (from + 1) * dim <= old.size()) {
      std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(from * dim), dim,
                  out.begin() + static_cast<std::ptrdiff_t>(i * dim));
      continue;
    }
    rows.push_back(i);
    texts.push_back(text(i));
    if (texts.size() == kTextBatch) flush();
  }
  flush();
  return out;
}

// The old snapshot's row of a passage, or SIZE_MAX if its document is new.
size_t OldChunk(const VectorInput& input, size_t chunk) {
  const uint32_t doc = input.contents->chunk_doc[chunk];
  const uint32_t old_doc = input.old_docs[doc];
  if (old_doc == kNoTerm) return SIZE_MAX;
  return input.old->docs()[old_doc].first_chunk + (chunk - input.contents->docs[doc].first_chunk);
}

size_t OldBundle(const VectorInput& input, size_t bundle) {
  const uint32_t old_doc = input.old_docs[input.contents->bundles[bundle].first_doc];
  return old_doc == kNoTerm ? SIZE_MAX : input.old->docs()[old_doc].bundle;
}

}  // namespace

SnapshotVectors MakeLsaVectors(const VectorInput& input, bool* retrained) {
  SnapshotVectors out;
  const size_t drift =
      input.old == nullptr ? 0 : CountDrift(input) + input.old->vector_meta().drifted_chunks;
  *retrained = MustTrain(input, drift);
  const auto kept_doc = [&](size_t doc) { return !*retrained && input.old_docs[doc] != kNoTerm; };
  const size_t chunks = input.contents->chunk_doc.size();
  const Rows<Packed> rows = VectorRows(*input.contents, kept_doc);
  if (*retrained) {
    LsaOptions options;
    options.threads = input.threads;
    LsaModel model = TrainLsa(rows.view(), input.terms, options);
    out.meta.dim = static_cast<uint32_t>(model.dim);
    out.meta.trained_chunks = static_cast<uint32_t>(chunks);
    out.lsa_columns = std::move(model.columns);
    out.lsa_idf = std::move(model.idf);
    out.lsa_matrix = std::move(model.matrix);
  } else {
    const LsaView old = ViewOf(*input.old);
    out.meta = input.old->vector_meta();
    out.meta.drifted_chunks = static_cast<uint32_t>(drift);
    out.lsa_columns = Copy(old.columns);
    out.lsa_idf = Copy(old.idf);
    out.lsa_matrix = Copy(old.matrix);
  }
  SetFingerprint("lsa", &out.meta);
  const LsaView model = {static_cast<int>(out.meta.dim), out.lsa_columns, out.lsa_idf,
                         out.lsa_matrix};
  if (model.dim == 0) return out;
  std::span<const float> old_chunks, old_bundles;
  if (!*retrained) {
    old_chunks = input.old->file().Section<float>(kChunkVectors);
    old_bundles = input.old->file().Section<float>(kBundleVectors);
  }
  out.chunks = EmbedRows(model, First(rows, chunks), input.threads, old_chunks,
                         [&](size_t i) { return *retrained ? SIZE_MAX : OldChunk(input, i); });
  out.bundles = EmbedRows(model, Rest(rows, chunks), input.threads, old_bundles,
                          [&](size_t i) { return *retrained ? SIZE_MAX : OldBundle(input, i); });
  AddApproximate(&out);
  return out;
}

SnapshotVectors MakeTextVectors(const VectorInput& input, const Embedder& embedder) {
  SnapshotVectors out;
  const std::string fingerprint = embedder.fingerprint();
  out.meta.dim = static_cast<uint32_t>(embedder.dim());
  SetFingerprint(fingerprint, &out.meta);
  const bool same = input.old != nullptr && fingerprint == input.old->vector_meta().fingerprint;
  std::span<const float> old_chunks, old_bundles;
  if (same) {
    old_chunks = input.old->file().Section<float>(kChunkVectors);
    old_bundles = input.old->file().Section<float>(kBundleVectors);
  }
  const SnapshotContents& c = *input.contents;
  out.chunks = EmbedTexts(
      c.chunk_doc.size(), out.meta.dim, embedder, old_chunks,
      [&](size_t i) { return same ? OldChunk(input, i) : SIZE_MAX; },
      [&](size_t i) {
        const uint32_t doc = c.chunk_doc[i];
        return input.chunk_text(doc, static_cast<uint32_t>(i) - c.docs[doc].first_chunk);
      });
  out.bundles = EmbedTexts(
      c.bundles.size(), out.meta.dim, embedder, old_bundles,
      [&](size_t i) { return same ? OldBundle(input, i) : SIZE_MAX; },
      [&](size_t i) { return input.bundle_text(static_cast<uint32_t>(i)); });
  AddApproximate(&out);
  return out;
}

std::unique_ptr<Embedder> MakeEmbedder(const std::string& name) {
  if (name == "lsa" || name == "none") return nullptr;
  if (name.starts_with("model2vec:")) return OpenModel2Vec(name.substr(10));
  if (name.starts_with("http:")) {
    HttpEmbedderOptions options;
    const size_t hash = name.rfind('#');
    options.url = name.substr(5, hash == name.npos ? name.npos : hash - 5);
    options.model = hash == name.npos ? "" : name.substr(hash + 1);
    const char* key = std::getenv("KB_EMBED_API_KEY");
    options.api_key = key == nullptr ? "" : key;
    return MakeHttpEmbedder(options);
  }
  throw Error(
      fmt::format("unknown embedder {}; use lsa, none, model2vec:FOLDER or http:URL#MODEL", name));
}

}  // namespace kb
