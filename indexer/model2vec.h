// Static embeddings of a Model2Vec folder: model.safetensors, tokenizer.json, config.json.
// Format sources: safetensors README (8-byte little-endian header length, JSON header, raw
// tensors), HF tokenizers' tokenizer.json (WordPiece and Unigram models), Model2Vec README.
#pragma once

#include <memory>
#include <string>

#include "indexer/embedder.h"

namespace kb {

// A text's vector is the mean of its tokens' rows (weighted if the file has weights),
// normalised. F32, F16 and (for weights) F64 tensors. Throws Error if a file is missing,
// damaged or of a kind not supported: says which and why.
[[nodiscard]] std::unique_ptr<Embedder> OpenModel2Vec(const std::string& folder);

}  // namespace kb
