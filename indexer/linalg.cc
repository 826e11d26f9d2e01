#include "indexer/linalg.h"

#include <fmt/format.h>

#include <cmath>

#include "kb/error.h"

// The Fortran entry points, declared here because Debian's cblas.h is an alternative that may
// name another BLAS than the serial OpenBLAS that is linked. Column-major; sizes by pointer.
extern "C" {
void sgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
            const float* beta, float* c, const int* ldc);
void ssyrk_(const char* uplo, const char* trans, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc);
void ssyevd_(const char* jobz, const char* uplo, const int* n, float* a, const int* lda, float* w,
             float* work, const int* lwork, int* iwork, const int* liwork, int* info);
void openblas_set_num_threads(int threads);
}

namespace kb {
namespace {

constexpr float kOne = 1, kZero = 0;
constexpr int kMaxEigen = 32000;  // LAPACK's workspace, 1 + 6n + 2n^2, must fit an int

void CheckSize(const char* what, size_t have, int rows, int columns) {
  if (rows >= 0 && columns >= 0 && have == static_cast<size_t>(rows) * columns) return;
  throw Error(
      fmt::format("{}: a matrix of {} x {} was given {} numbers: a fault in kb; please "
                  "report it",
                  what, rows, columns, have));
}

// The library that is found when run may be OpenBLAS's threaded build (a Debian alternative).
void UseOneThread() {
  static const bool once = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)once;
}

// Eigenvectors are unique up to their sign; without this, another BLAS kernel may flip one.
bool IsNegative(std::span<const float> vector) {
  float largest = 0;
  for (float v : vector) {
    if (std::fabs(v) > std::fabs(largest)) largest = v;
  }
  return largest < 0;
}

}  // namespace

void MatMul(std::span<const float> a, std::span<const float> b, int m, int k, int n,
            std::span<float> c) {
  CheckSize("MatMul a", a.size(), m, k);
  CheckSize("MatMul b", b.size(), k, n);
  CheckSize("MatMul c", c.size(), m, n);
  if (m == 0 || n == 0) return;
  UseOneThread();
  const int lda = std::max(k, 1);
  // Row-major c = a b is column-major c^T = b^T a^T.
  sgemm_("N", "N", &n, &m, &k, &kOne, b.data(), &n, a.data(), &lda, &kZero, c.data(), &n);
}

void Gram(std::span<const float> a, int m, int n, std::span<float> gram) {
  CheckSize("Gram a", a.size(), m, n);
  CheckSize("Gram gram", gram.size(), n, n);
  if (n == 0) return;
  UseOneThread();
  // "L" of the column-major result is the upper triangle of the row-major one.
  ssyrk_("L", "N", &n, &m, &kOne, a.data(), &n, &kZero, gram.data(), &n);
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    for (size_t j = 0; j < i; ++j) gram[i * n + j] = gram[j * n + i];
  }
}

Eigen SymmetricEigen(std::span<const float> matrix, int n) {
  CheckSize("SymmetricEigen", matrix.size(), n, n);
  if (n == 0) return {};
  if (n > kMaxEigen) {
    throw Error(fmt::format("SymmetricEigen: {} is more than {} rows", n, kMaxEigen));
  }
  for (float v : matrix) {
    if (!std::isfinite(v)) throw Error("SymmetricEigen: the matrix holds NaN or infinity");
  }
  UseOneThread();
  std::vector<float> columns(matrix.begin(), matrix.end()), rising(n);
  const int lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
  std::vector<float> work(lwork);
  std::vector<int> iwork(liwork);
  int info = 0;
  ssyevd_("V", "L", &n, columns.data(), &n, rising.data(), work.data(), &lwork, iwork.data(),
          &liwork, &info);
  if (info != 0)
    throw Error(fmt::format("SymmetricEigen: LAPACK ssyevd did not converge ({})", info));

  Eigen eigen{.values = std::vector<float>(rising.rbegin(), rising.rend()),
              .vectors = std::vector<float>(matrix.size())};
  const size_t size = n;
  for (size_t j = 0; j < size; ++j) {
    std::span<const float> vector(columns.data() + (size - 1 - j) * size, size);
    const float sign = IsNegative(vector) ? -1.0f : 1.0f;
    for (size_t i = 0; i < size; ++i) eigen.vectors[i * size + j] = sign * vector[i];
  }
  return eigen;
}

}  // namespace kb
