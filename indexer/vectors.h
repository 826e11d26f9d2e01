// The dense part of a snapshot: LSA trained on the corpus, or vectors of an Embedder.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/embedder.h"
#include "indexer/snapshot_writer.h"

namespace kb {

// LSA is trained anew when this share of its passages has been added or removed; in corpora of
// up to kAlwaysTrain passages every time, so that small ones never depend on their history.
inline constexpr double kRetrainShare = 0.2;
inline constexpr size_t kAlwaysTrain = 2000;

struct VectorInput {
  const SnapshotContents* contents = nullptr;
  std::span<const std::string_view> terms;  // by id
  const Snapshot* old = nullptr;            // may be null
  std::vector<uint32_t> old_docs;           // per document: its index in `old`, or kNoTerm if new
  // For embedders that read text: the passage, or the name and description of a bundle.
  std::function<std::string(uint32_t doc, uint32_t chunk)> chunk_text;
  std::function<std::string(uint32_t bundle)> bundle_text;
  int threads = 1;
};

// `*retrained` says whether the SVD was computed.
[[nodiscard]] SnapshotVectors MakeLsaVectors(const VectorInput& input, bool* retrained);
[[nodiscard]] SnapshotVectors MakeTextVectors(const VectorInput& input, const Embedder& embedder);

// "lsa" and "none": null. "model2vec:FOLDER", "http:URL#MODEL". Throws Error.
[[nodiscard]] std::unique_ptr<Embedder> MakeEmbedder(const std::string& name);

}  // namespace kb
