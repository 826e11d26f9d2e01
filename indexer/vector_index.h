// Nearest vectors by inner product, with FAISS. The only place that includes faiss. Exact
// search over memory that the caller maps, up to kExactVectors; IVF with 8-bit codes above.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kb {

inline constexpr int64_t kExactVectors = 200000;

struct Neighbour {
  int64_t row = 0;     // of the matrix, 0-based
  float similarity = 0;  // inner product: cosine for vectors of length 1
};

// The k rows of `matrix` (row-major, n x dim, borrowed) nearest to `query` (dim), best first,
// ties by row. k > n gives n. Exact.
[[nodiscard]] std::vector<Neighbour> NearestExact(std::span<const float> matrix, int dim,
                                                  std::span<const float> query, int k);

// scores[i] = <matrix row i, query>: what fusion needs, n long.
[[nodiscard]] std::vector<float> AllSimilarities(std::span<const float> matrix, int dim,
                                                 std::span<const float> query);

// An approximate index for large corpora, as bytes for a file of ours.
[[nodiscard]] std::string BuildApproximate(std::span<const float> matrix, int dim);

class ApproximateIndex {
 public:
  // `bytes` as BuildApproximate gave them (checked by the caller's checksum). Throws Error.
  explicit ApproximateIndex(std::string_view bytes);
  ~ApproximateIndex();
  [[nodiscard]] std::vector<Neighbour> Nearest(std::span<const float> query, int k) const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
