#include "indexer/linalg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kb/error.h"

namespace kb {
namespace {

std::vector<float> Random(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& v : values) v = normal(random);
  return values;
}

struct Shape {
  int m, k, n;
};

TEST(MatMul, EqualsThreeLoops) {
  for (auto [m, k, n] : {Shape{1, 1, 1}, {2, 3, 4}, {7, 5, 1}, {1, 9, 6}, {33, 17, 29}}) {
    auto a = Random(m * k, 1), b = Random(k * n, 2);
    std::vector<float> c(m * n, std::nanf(""));
    MatMul(a, b, m, k, n, c);
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int p = 0; p < k; ++p) sum += double{a[i * k + p]} * b[p * n + j];
        EXPECT_NEAR(c[i * n + j], sum, 1e-4)
            << m << 'x' << k << 'x' << n << " at " << i << ',' << j;
      }
    }
  }
}

TEST(MatMul, OverNoColumnsIsZero) {
  std::vector<float> c(6, 9.0f);
  MatMul({}, {}, 2, 0, 3, c);
  EXPECT_EQ(c, std::vector<float>(6, 0.0f));
}

TEST(MatMul, RefusesSpansOfTheWrongSize) {
  std::vector<float> a(6), b(6), c(4), small(3);
  EXPECT_NO_THROW(MatMul(a, b, 2, 3, 2, c));
  EXPECT_THROW(MatMul(a, b, 2, 3, 2, small), Error);
  EXPECT_THROW(MatMul(small, b, 2, 3, 2, c), Error);
  EXPECT_THROW(MatMul(a, small, 2, 3, 2, c), Error);
  EXPECT_THROW(MatMul(a, b, -2, 3, 2, c), Error);
}

TEST(Gram, EqualsTheTransposeTimesItself) {
  for (auto [m, n] : {std::pair{1, 1}, {5, 3}, {3, 5}, {40, 31}}) {
    auto a = Random(m * n, 3);
    std::vector<float> gram(n * n, std::nanf(""));
    Gram(a, m, n, gram);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int p = 0; p < m; ++p) sum += double{a[p * n + i]} * a[p * n + j];
        EXPECT_NEAR(gram[i * n + j], sum, 1e-4) << m << 'x' << n << " at " << i << ',' << j;
        EXPECT_EQ(gram[i * n + j], gram[j * n + i]);
      }
    }
  }
}

TEST(Gram, RefusesSpansOfTheWrongSize) {
  std::vector<float> a(6), gram(8);
  EXPECT_THROW(Gram(a, 2, 3, gram), Error);
}

std::vector<float> RandomSymmetric(int n, unsigned seed) {
  auto a = Random(n * n, seed);
  std::vector<float> s(n * n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) s[i * n + j] = a[i * n + j] + a[j * n + i];
  }
  return s;
}

TEST(SymmetricEigen, ColumnsSatisfyTheDefinition) {
  for (int n : {1, 2, 3, 10, 64}) {
    auto s = RandomSymmetric(n, 4);
    Eigen eigen = SymmetricEigen(s, n);
    ASSERT_EQ(eigen.values.size(), size_t(n));
    ASSERT_EQ(eigen.vectors.size(), size_t(n) * n);
    for (int j = 0; j < n; ++j) {
      double length = 0;
      for (int i = 0; i < n; ++i) {
        double row = 0;
        for (int p = 0; p < n; ++p) row += double{s[i * n + p]} * eigen.vectors[p * n + j];
        EXPECT_NEAR(row, double{eigen.values[j]} * eigen.vectors[i * n + j], 2e-4) << n;
        length += double{eigen.vectors[i * n + j]} * eigen.vectors[i * n + j];
      }
      EXPECT_NEAR(length, 1, 1e-4);
    }
  }
}

TEST(SymmetricEigen, ValuesFall) {
  Eigen eigen = SymmetricEigen(RandomSymmetric(20, 5), 20);
  EXPECT_TRUE(std::is_sorted(eigen.values.rbegin(), eigen.values.rend()));
  EXPECT_GT(eigen.values.front(), eigen.values.back());
}

TEST(SymmetricEigen, LargestComponentOfEachVectorIsPositive) {
  const int n = 30;
  Eigen eigen = SymmetricEigen(RandomSymmetric(n, 6), n);
  for (int j = 0; j < n; ++j) {
    float largest = 0;
    for (int i = 0; i < n; ++i) {
      float v = eigen.vectors[i * n + j];
      if (std::fabs(v) > std::fabs(largest)) largest = v;
    }
    EXPECT_GT(largest, 0) << "column " << j;
  }
}

TEST(SymmetricEigen, EqualInputGivesEqualBytes) {
  auto s = RandomSymmetric(50, 7);
  Eigen one = SymmetricEigen(s, 50), two = SymmetricEigen(s, 50);
  EXPECT_EQ(one.values, two.values);
  EXPECT_EQ(one.vectors, two.vectors);
}

TEST(SymmetricEigen, AcceptsTheEmptyMatrix) { EXPECT_TRUE(SymmetricEigen({}, 0).values.empty()); }

TEST(SymmetricEigen, RefusesWhatHasNoEigenvectors) {
  std::vector<float> s{1, 0, 0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THROW((void)SymmetricEigen(s, 2), Error);
  s[3] = std::numeric_limits<float>::infinity();
  EXPECT_THROW((void)SymmetricEigen(s, 2), Error);
  EXPECT_THROW((void)SymmetricEigen(std::vector<float>(3), 2), Error);
}

}  // namespace
}  // namespace kb
