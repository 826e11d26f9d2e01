#include "indexer/vector_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "kb/error.h"

namespace kb {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// `n` vectors of length 1 around `clusters` centres.
std::vector<float> Clustered(int n, int dim, int clusters, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> centres(static_cast<size_t>(clusters) * dim), rows;
  for (float& v : centres) v = normal(random);
  for (int i = 0; i < n; ++i) {
    const float* centre = &centres[static_cast<size_t>(random() % clusters) * dim];
    double length = 0;
    for (int j = 0; j < dim; ++j) {
      rows.push_back(centre[j] + 0.4f * normal(random));
      length += double{rows.back()} * rows.back();
    }
    for (int j = 0; j < dim; ++j) rows.end()[j - dim] /= static_cast<float>(std::sqrt(length));
  }
  return rows;
}

double Dot(const float* a, const float* b, int dim) {
  double sum = 0;
  for (int j = 0; j < dim; ++j) sum += double{a[j]} * b[j];
  return sum;
}

std::vector<int64_t> SlowNearest(std::span<const float> m, int dim, const float* q, size_t k) {
  std::vector<std::pair<double, int64_t>> all;
  for (size_t i = 0; i < m.size() / dim; ++i) all.push_back({-Dot(&m[i * dim], q, dim), i});
  std::sort(all.begin(), all.end());
  std::vector<int64_t> rows;
  for (size_t i = 0; i < std::min(k, all.size()); ++i) rows.push_back(all[i].second);
  return rows;
}

std::vector<int64_t> Rows(const std::vector<Neighbour>& neighbours) {
  std::vector<int64_t> rows;
  for (const Neighbour& n : neighbours) rows.push_back(n.row);
  return rows;
}

TEST(NearestExact, EqualsTheSlowLoop) {
  for (int dim : {1, 3, 16, 50, 256}) {
    auto m = Clustered(500, dim, 20, 1), q = Clustered(8, dim, 20, 2);
    if (dim == 1) continue;  // all rows are +1 or -1: see TiesGoByRow
    for (int i = 0; i < 8; ++i) {
      const float* query = &q[static_cast<size_t>(i) * dim];
      auto found = NearestExact(m, dim, {query, size_t(dim)}, 10);
      EXPECT_EQ(Rows(found), SlowNearest(m, dim, query, 10)) << dim;
      for (const auto& n : found) EXPECT_NEAR(n.similarity, Dot(&m[n.row * dim], query, dim), 1e-5);
    }
  }
}

TEST(NearestExact, TiesGoByRow) {
  std::vector<float> m{1, 0, 0, 1, 1, 0, 1, 0}, q{1, 0};
  EXPECT_EQ(Rows(NearestExact(m, 2, q, 2)), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(Rows(NearestExact(m, 2, q, 4)), (std::vector<int64_t>{0, 2, 3, 1}));
}

TEST(NearestExact, SmallCounts) {
  std::vector<float> m{1, 0, 0, 1}, q{0, 1};
  EXPECT_TRUE(NearestExact({}, 2, q, 5).empty());
  EXPECT_EQ(Rows(NearestExact(std::span(m).first(2), 2, q, 5)), (std::vector<int64_t>{0}));
  EXPECT_EQ(Rows(NearestExact(m, 2, q, 5)), (std::vector<int64_t>{1, 0}));
  EXPECT_TRUE(NearestExact(m, 2, q, 0).empty());
  EXPECT_TRUE(NearestExact(m, 2, q, -1).empty());
}

TEST(NearestExact, NanIsNeverNear) {
  std::vector<float> m{kNan, 0, 0, 1}, q{0, 1}, nan_query{kNan, 0};
  EXPECT_EQ(Rows(NearestExact(m, 2, q, 2)), (std::vector<int64_t>{1}));
  EXPECT_TRUE(NearestExact(m, 2, nan_query, 2).empty());
}

TEST(NearestExact, RefusesSizesThatDoNotFit) {
  std::vector<float> m(6), q(2);
  EXPECT_NO_THROW((void)NearestExact(m, 2, q, 1));
  EXPECT_THROW((void)NearestExact(m, 4, std::vector<float>(4), 1), Error);
  EXPECT_THROW((void)NearestExact(m, 3, q, 1), Error);
  EXPECT_THROW((void)NearestExact(m, 0, {}, 1), Error);
}

TEST(AllSimilarities, EqualsTheSlowLoop) {
  for (int dim : {1, 7, 15, 16, 17, 33, 384}) {
    auto m = Clustered(100, dim, 5, 3), q = Clustered(1, dim, 5, 4);
    auto scores = AllSimilarities(m, dim, q);
    ASSERT_EQ(scores.size(), 100u);
    for (int i = 0; i < 100; ++i) {
      EXPECT_NEAR(scores[i], Dot(&m[static_cast<size_t>(i) * dim], q.data(), dim), 1e-5) << dim;
    }
  }
}

double RecallAt10(const ApproximateIndex& index, std::span<const float> m, int dim,
                  std::span<const float> queries) {
  int found = 0, wanted = 0;
  for (size_t i = 0; i < queries.size(); i += dim) {
    auto truth = SlowNearest(m, dim, &queries[i], 10);
    std::set<int64_t> expected(truth.begin(), truth.end());
    wanted += static_cast<int>(expected.size());
    for (const auto& n : index.Nearest(queries.subspan(i, dim), 10)) {
      found += static_cast<int>(expected.count(n.row));
    }
  }
  return double(found) / wanted;
}

TEST(ApproximateIndex, FindsNineOfTenNearestInClusters) {
  const int dim = 64;
  auto m = Clustered(20000, dim, 200, 5), q = Clustered(50, dim, 200, 5);
  ApproximateIndex index(BuildApproximate(m, dim));
  EXPECT_GE(RecallAt10(index, m, dim, q), 0.9);
}

TEST(ApproximateIndex, FindsNearlyAllInASmallMatrix) {
  const int dim = 32;
  auto m = Clustered(200, dim, 10, 6), q = Clustered(20, dim, 10, 7);
  ApproximateIndex index(BuildApproximate(m, dim));
  EXPECT_GE(RecallAt10(index, m, dim, q), 0.95);
}

TEST(ApproximateIndex, SimilaritiesFallAndAreClose) {
  const int dim = 32;
  auto m = Clustered(3000, dim, 10, 6), q = Clustered(1, dim, 10, 7);
  auto found = ApproximateIndex(BuildApproximate(m, dim)).Nearest(q, 20);
  ASSERT_EQ(found.size(), 20u);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_GE(found[i == 0 ? 0 : i - 1].similarity, found[i].similarity);
    EXPECT_NEAR(found[i].similarity, Dot(&m[found[i].row * dim], q.data(), dim), 0.02);
  }
}

TEST(ApproximateIndex, SmallCounts) {
  std::vector<float> m{1, 0, 0, 1}, q{0, 1};
  EXPECT_TRUE(ApproximateIndex(BuildApproximate({}, 2)).Nearest(q, 5).empty());
  ApproximateIndex one(BuildApproximate(std::span(m).first(2), 2));
  EXPECT_EQ(Rows(one.Nearest(q, 5)), (std::vector<int64_t>{0}));
  ApproximateIndex two(BuildApproximate(m, 2));
  EXPECT_EQ(Rows(two.Nearest(q, 5)), (std::vector<int64_t>{1, 0}));
  EXPECT_TRUE(two.Nearest(q, 0).empty());
  EXPECT_TRUE(two.Nearest(std::vector<float>{kNan, 0}, 2).empty());
  EXPECT_THROW((void)two.Nearest(std::vector<float>(3), 1), Error);
}

TEST(BuildApproximate, EqualInputGivesEqualBytes) {
  auto m = Clustered(2000, 16, 10, 8);
  EXPECT_EQ(BuildApproximate(m, 16), BuildApproximate(m, 16));
}

TEST(BuildApproximate, RefusesNan) {
  EXPECT_THROW((void)BuildApproximate(std::vector<float>{1, kNan}, 2), Error);
}

TEST(ApproximateIndex, RefusesBytesThatAreNoIndex) {
  std::string good = BuildApproximate(Clustered(300, 8, 4, 9), 8);
  EXPECT_THROW(ApproximateIndex(""), Error);
  for (const char* text :
       {"not an index at all", "kb-ivf-1 8 0", "kb-ivf-1 8\n", "kb-ivf-1  \n", "kb-ivf-1 0 0\n",
        "kb-ivf-1 -8 0\n", "kb-ivf-1 8 1\n", "kb-ivf-1 8 0\nx"}) {
    EXPECT_THROW(ApproximateIndex{text}, Error) << text;
  }
  EXPECT_THROW(ApproximateIndex(good + "x"), Error);
  for (size_t cut : {size_t{3}, size_t{40}, good.size() / 2, good.size() - 1}) {
    EXPECT_THROW(ApproximateIndex(std::string_view(good).substr(0, cut)), Error) << cut;
  }
}

}  // namespace
}  // namespace kb
