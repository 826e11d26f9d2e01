// The reference's matrix product: blocked for the caches, in the widest vectors that this CPU has.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tdd/case_test.h"

// One binary for every x86-64; the loader picks the version. (Before the thread sanitizer is up:
// it would crash.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define KB_WIDEST_VECTORS \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default"), optimize("O3")))
#else
#define KB_WIDEST_VECTORS
#endif

namespace kb::test {
namespace {

constexpr int64_t kRows = 4, kColumns = 32, kDepth = 256;  // a tile of c; of k at a time

// tile (kRows x kColumns) += a (kRows x depth, `stride` apart) * b (depth x kColumns).
KB_WIDEST_VECTORS void AddTile(const double* a, int64_t stride, const double* b, int64_t depth,
                               double* tile) {
  double sums[kRows * kColumns];
  std::copy_n(tile, kRows * kColumns, sums);
  for (int64_t k = 0; k < depth; ++k) {
    const double* row = b + k * kColumns;
    for (int64_t r = 0; r < kRows; ++r) {
      double factor = a[r * stride + k];
      for (int64_t c = 0; c < kColumns; ++c) sums[r * kColumns + c] += factor * row[c];
    }
  }
  std::copy_n(sums, kRows * kColumns, tile);
}

struct Product {
  const MatMulShape& shape;
  const double *a, *b;
  bool absolute;
  double* c;

  [[nodiscard]] double A(int64_t i, int64_t k) const {
    double value = a[i * shape.k + k];
    return absolute ? std::fabs(value) : value;
  }
  [[nodiscard]] double B(int64_t k, int64_t j) const {
    double value = shape.b_transposed ? b[j * shape.k + k] : b[k * shape.n + j];
    return absolute ? std::fabs(value) : value;
  }

  // The columns [left, left + kColumns) of c. What lies outside the matrices counts as 0.
  void Strip(int64_t left) const {
    const int64_t width = std::min(kColumns, shape.n - left);
    std::vector<double> strip(static_cast<size_t>(shape.k * kColumns));
    for (int64_t k = 0; k < shape.k; ++k) {
      for (int64_t j = 0; j < width; ++j) strip[k * kColumns + j] = B(k, left + j);
    }
    std::vector<double> tiles(static_cast<size_t>((shape.m + kRows) * kColumns));
    double rows[kRows * kDepth] = {};
    for (int64_t from = 0; from < shape.k; from += kDepth) {
      const int64_t depth = std::min(kDepth, shape.k - from);
      for (int64_t top = 0; top < shape.m; top += kRows) {
        for (int64_t r = 0; r < kRows; ++r) {
          for (int64_t k = 0; k < depth; ++k) {
            rows[r * kDepth + k] = top + r < shape.m ? A(top + r, from + k) : 0;
          }
        }
        AddTile(rows, kDepth, &strip[from * kColumns], depth, &tiles[top * kColumns]);
      }
    }
    for (int64_t i = 0; i < shape.m; ++i) {
      std::copy_n(&tiles[i * kColumns], width, c + i * shape.n + left);
    }
  }

  void Run() const {
    ParallelFor((shape.n + kColumns - 1) / kColumns,
                [this](int64_t strip) { Strip(strip * kColumns); });
  }
  void RunInHalf() const {
    ParallelFor(shape.m * shape.n, [this](int64_t at) {
      Accumulator sum;
      for (int64_t k = 0; k < shape.k; ++k) sum += A(at / shape.n, k) * B(k, at % shape.n);
      c[at] = sum;
    });
  }
};

}  // namespace

void MatMul(const MatMulShape& shape, const std::vector<double>& a, const std::vector<double>& b,
            std::vector<double>* c, std::vector<double>* magnitude) {
  auto size = [](const std::vector<double>& matrix) { return static_cast<int64_t>(matrix.size()); };
  if (size(a) != shape.m * shape.k || size(b) != shape.k * shape.n ||
      size(*c) != shape.m * shape.n ||
      (magnitude != nullptr && size(*magnitude) != shape.m * shape.n)) {
    throw std::invalid_argument("MatMul: a matrix has not the size that m, n and k say");
  }
  Product product{shape, a.data(), b.data(), false, c->data()};
  internal::half_accumulate ? product.RunInHalf() : product.Run();
  if (magnitude != nullptr) Product{shape, a.data(), b.data(), true, magnitude->data()}.Run();
}

}  // namespace kb::test
