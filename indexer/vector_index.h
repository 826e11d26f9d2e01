// Nearest vectors by inner product. Exact search is a plain loop over memory that the caller
// maps, up to kExactVectors; above that FAISS's IVF with 8-bit codes. The only place that
// includes faiss. Single-threaded; objects may be shared between threads for reading.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

inline constexpr int64_t kExactVectors = 200000;

struct Neighbour {
  int64_t row = 0;       // of the matrix, 0-based
  float similarity = 0;  // inner product: cosine for vectors of length 1
};

// The k rows of `matrix` (row-major, n x dim, borrowed, never copied) nearest to `query`
// (dim), best first, ties by row. k > n gives n. Rows whose similarity is NaN are left out.
// Exact. Throws Error if the sizes do not fit together.
[[nodiscard]] std::vector<Neighbour> NearestExact(std::span<const float> matrix, int dim,
                                                  std::span<const float> query, int k);

// scores[i] = <matrix row i, query>: what fusion needs, n long. The order of summation is
// fixed: equal input gives equal bytes on every machine.
[[nodiscard]] std::vector<float> AllSimilarities(std::span<const float> matrix, int dim,
                                                 std::span<const float> query);

// An approximate index for large corpora, as bytes for a file of ours; below a few hundred rows
// it is exact up to the 8-bit codes. Equal input gives equal bytes. Throws Error if the sizes
// do not fit together or the matrix holds NaN.
[[nodiscard]] std::string BuildApproximate(std::span<const float> matrix, int dim);

class ApproximateIndex {
 public:
  // `bytes` as BuildApproximate gave them (checked by the caller's checksum). Throws Error.
  explicit ApproximateIndex(std::string_view bytes);
  ~ApproximateIndex();
  // As NearestExact, with similarities from the 8-bit codes. May find fewer than k.
  [[nodiscard]] std::vector<Neighbour> Nearest(std::span<const float> query, int k) const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
