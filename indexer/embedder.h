// Text to vectors. Three implementations: lsa (trained on the indexed corpus), model2vec (a
// static-embedding file) and http (an OpenAI-compatible endpoint).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

class Embedder {
 public:
  virtual ~Embedder() = default;
  [[nodiscard]] virtual int dim() const = 0;
  // Names the embedder and everything that changes its vectors (model file digest, URL and
  // model name, training generation). Vectors with different fingerprints never mix.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  // Row-major, texts.size() x dim, each row of length 1, or all zeros if nothing in the text
  // is known. Throws Error (http: after retries; names the URL and the mend).
  [[nodiscard]] virtual std::vector<float> Embed(std::span<const std::string> texts) const = 0;
};

}  // namespace kb
