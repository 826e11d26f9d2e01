#include "indexer/lsa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kb {
namespace {

// Passages of two subjects; within one, any two words are met together often, never across.
Rows<Packed> TwoSubjects(int rows, TermId words) {
  std::mt19937 random(1);
  Rows<Packed> out;
  for (int i = 0; i < rows; ++i) {
    const TermId first = i % 2 == 0 ? 0 : words;
    std::vector<TermId> terms;
    for (int j = 0; j < 8; ++j) terms.push_back(first + static_cast<TermId>(random() % words));
    out.Append(CountTerms(terms));
  }
  return out;
}

// Spellings for `n` terms, in the order of their ids.
std::vector<std::string_view> Spellings(size_t n) {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (int i = 1000; i < 2000; ++i) out.push_back("t" + std::to_string(i));
    return out;
  }();
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)};
}

LsaOptions Small(int threads = 1) {
  LsaOptions options;
  options.dim = 4;
  options.threads = threads;
  return options;
}

float Dot(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<float> VectorOf(const LsaModel& model, TermId id) {
  const std::vector<Packed> row = {Pack(id, 1)};
  return EmbedRow(ViewOf(model), row);
}

TEST(Lsa, WordsOfOneSubjectAreNearAndOfTwoAreFar) {
  constexpr TermId kWords = 40;
  const LsaModel model = TrainLsa(TwoSubjects(400, kWords).view(), Spellings(2 * kWords), Small());
  ASSERT_GT(model.dim, 1);
  double near = 0, far = 0;
  for (TermId i = 1; i < 20; ++i) {
    near += Dot(VectorOf(model, 0), VectorOf(model, i));
    far += Dot(VectorOf(model, 0), VectorOf(model, kWords + i));
  }
  EXPECT_GT(near / 19, far / 19 + 0.1);
}

TEST(Lsa, VectorsHaveLengthOneOrAreZero) {
  const LsaModel model = TrainLsa(TwoSubjects(100, 20).view(), Spellings(50), Small());
  const std::vector<float> known = VectorOf(model, 3);
  EXPECT_NEAR(Dot(known, known), 1.0f, 1e-5f);
  const std::vector<float> never_seen = VectorOf(model, 45);
  EXPECT_EQ(Dot(never_seen, never_seen), 0.0f);
  const std::vector<float> beyond = VectorOf(model, 5000);
  EXPECT_EQ(Dot(beyond, beyond), 0.0f);
}

TEST(Lsa, TheSameBytesForAnyNumberOfThreads) {
  const Rows<Packed> rows = TwoSubjects(300, 50);
  const LsaModel one = TrainLsa(rows.view(), Spellings(100), Small(1));
  const LsaModel three = TrainLsa(rows.view(), Spellings(100), Small(3));
  EXPECT_EQ(one.matrix, three.matrix);
  EXPECT_EQ(one.columns, three.columns);
}

TEST(Lsa, TheNumberingOfTermsLeavesNoTrace) {
  const Rows<Packed> rows = TwoSubjects(300, 50);
  std::vector<std::string_view> reversed = Spellings(100);
  std::reverse(reversed.begin(), reversed.end());
  Rows<Packed> renumbered;
  for (size_t i = 0; i < rows.view().size(); ++i) {
    std::vector<Packed> row;
    for (const Packed p : rows.view()[i]) row.push_back(Pack(99 - PackedId(p), PackedCount(p)));
    std::sort(row.begin(), row.end());
    renumbered.Append(row);
  }
  EXPECT_EQ(TrainLsa(rows.view(), Spellings(100), Small()).matrix,
            TrainLsa(renumbered.view(), reversed, Small()).matrix);
}

// Halko et al.: for a matrix of low rank the projection keeps all of it, so similarities in the
// reduced space equal those of a plain SVD; here rank 2 by construction.
TEST(Lsa, AMatrixOfRankTwoGivesTwoDimensions) {
  Rows<Packed> rows;
  for (int i = 0; i < 30; ++i) {
    rows.Append(i % 3 == 0   ? CountTerms({0, 1, 2})
                : i % 3 == 1 ? CountTerms({3, 4, 5})
                             : CountTerms({6}));
  }
  LsaOptions options = Small();
  options.dim = 16;
  const LsaModel model = TrainLsa(rows.view(), Spellings(7), options);
  EXPECT_LE(model.dim, 3);
}

TEST(Lsa, TooLittleToLearnFromGivesNoModel) {
  EXPECT_EQ(TrainLsa(Rows<Packed>().view(), Spellings(10), Small()).dim, 0);
  Rows<Packed> one;
  one.Append(CountTerms({1, 2, 3}));
  EXPECT_EQ(TrainLsa(one.view(), Spellings(10), Small()).dim, 0);
  Rows<Packed> empty_rows;
  for (int i = 0; i < 5; ++i) empty_rows.Append(std::vector<Packed>{});
  EXPECT_EQ(TrainLsa(empty_rows.view(), Spellings(10), Small()).dim, 0);
}

TEST(CountTerms, CountsEachTermOnceById) {
  EXPECT_THAT(CountTerms({5, 2, 5, 5}), testing::ElementsAre(Pack(2, 1), Pack(5, 3)));
  EXPECT_THAT(CountTerms({}), testing::IsEmpty());
  EXPECT_EQ(PackedCount(CountTerms(std::vector<TermId>(1000, 7))[0]), 255u);
}

}  // namespace
}  // namespace kb
