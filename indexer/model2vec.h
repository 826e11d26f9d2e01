// Static embeddings of a Model2Vec folder: model.safetensors, tokenizer.json.
// Format sources: safetensors README, HF tokenizers' tokenizer.json (WordPiece and Unigram
// models), Model2Vec's README and its Python package.
#pragma once

#include <memory>
#include <string>

#include "indexer/embedder.h"

namespace kb {

// A text's vector is the mean of its tokens' rows (times their weights if the file has these),
// normalised whatever config.json says. Unknown tokens are left out; long texts are not cut
// (Model2Vec's encode() cuts at 512 tokens). The tensor is "embeddings" or, of sentence
// transformers, "embedding.weight": F32, F16, BF16 or I8; with "weights" (F32, F16, F64) and
// "mapping" (token -> row; I32, I64) of a quantized vocabulary. Throws Error if a file is
// missing, damaged or of a kind not supported: says which and why.
[[nodiscard]] std::unique_ptr<Embedder> OpenModel2Vec(const std::string& folder);

}  // namespace kb
