// The dense linear algebra that LSA needs, by LAPACK/BLAS. The only place that includes them.
// All matrices are row-major float; nothing here is threaded.
#pragma once

#include <span>
#include <vector>

namespace kb {

// c (m x n) = a (m x k) * b (k x n).
void MatMul(std::span<const float> a, std::span<const float> b, int m, int k, int n,
            std::span<float> c);

// gram (n x n) = a^T a for a (m x n).
void Gram(std::span<const float> a, int m, int n, std::span<float> gram);

// Eigenvectors of the symmetric n x n matrix, as columns, by falling eigenvalue; the sign of
// each is fixed (its largest component is positive) so that equal input gives equal bytes.
struct Eigen {
  std::vector<float> values;   // n
  std::vector<float> vectors;  // n x n, column j belongs to values[j]
};
[[nodiscard]] Eigen SymmetricEigen(std::span<const float> matrix, int n);

}  // namespace kb
