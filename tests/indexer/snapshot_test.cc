#include "indexer/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "indexer/bm25.h"
#include "indexer/legs.h"
#include "indexer/snapshot_writer.h"

namespace kb {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Terms by id: 0 bank, 1 conflict, 2 shared, 3 copy, 4 unused.
const std::vector<std::string_view> kTerms = {"bank", "conflict", "shared", "copy", "unused"};

SnapshotDocument Document(const std::string& bundle, int64_t row, bool main,
                          std::vector<TermId> description,
                          std::vector<std::vector<Packed>> bodies) {
  SnapshotDocument document;
  document.bundle = bundle;
  document.record.row = row;
  document.record.is_main = main ? 1 : 0;
  document.terms.description = std::move(description);
  for (auto& body : bodies) document.terms.chunks.push_back({std::move(body), {}});
  return document;
}

// Two bundles: "a" of two documents and three chunks, "b" of one and one.
Snapshot Example(const std::string& name) {
  const std::vector<SnapshotDocument> documents = {
      Document("a", 11, true, {0, 1}, {{Pack(0, 2), Pack(2, 1)}, {Pack(1, 1)}}),
      Document("a", 12, false, {}, {{Pack(0, 1)}}),
      Document("b", 13, true, {1, 0}, {{Pack(3, 4)}}),
  };
  const std::string path = testing::TempDir() + "/snapshot_test_" + name;
  WriteSnapshot(path, AssembleSnapshot(documents, kTerms.size()), kTerms, {});
  return Snapshot(path);
}

std::vector<std::pair<uint32_t, uint32_t>> Pairs(std::span<const Packed> row) {
  std::vector<std::pair<uint32_t, uint32_t>> out;
  for (const Packed p : row) out.emplace_back(PackedId(p), PackedCount(p));
  return out;
}

TEST(Snapshot, KeepsDocumentsBundlesAndChunksInOrder) {
  const Snapshot snapshot = Example("order");
  ASSERT_EQ(snapshot.docs().size(), 3u);
  EXPECT_EQ(snapshot.docs()[1].row, 12);
  EXPECT_EQ(snapshot.docs()[1].bundle, 0u);
  EXPECT_EQ(snapshot.docs()[2].bundle, 1u);
  EXPECT_EQ(snapshot.docs()[2].first_chunk, 3u);
  ASSERT_EQ(snapshot.bundles().size(), 2u);
  EXPECT_EQ(snapshot.bundles()[0].doc_count, 2u);
  EXPECT_THAT(snapshot.chunk_doc(), ElementsAre(0u, 0u, 1u, 2u));
}

TEST(Snapshot, FindsEveryTermAndNoOther) {
  const Snapshot snapshot = Example("terms");
  for (TermId id = 0; id < kTerms.size(); ++id) EXPECT_EQ(snapshot.FindTerm(kTerms[id]), id);
  EXPECT_EQ(snapshot.FindTerm("nothing"), kNoTerm);
  EXPECT_EQ(snapshot.FindTerm(""), kNoTerm);
}

TEST(Snapshot, ChunkPostingsCountBodyAndDescription) {
  const Snapshot snapshot = Example("postings");
  // bank: twice in the first body and once in its bundle's description; once in each other chunk
  // of bundle a by description, and in chunk 2 by body too; in b's only by description.
  EXPECT_THAT(Pairs(snapshot.Field(kChunkField).postings[0]),
              ElementsAre(Pair(0, 3), Pair(1, 1), Pair(2, 2), Pair(3, 1)));
  EXPECT_TRUE(snapshot.Field(kChunkField).postings[4].empty());
}

TEST(Snapshot, IdfCountsBodiesOnly) {
  const Snapshot snapshot = Example("idf");
  // 4 chunks; bank stands in 2 bodies, unused in none.
  EXPECT_FLOAT_EQ(snapshot.Idf(0), std::log(1 + (4 - 2 + 0.5f) / 2.5f));
  EXPECT_FLOAT_EQ(snapshot.Idf(4), std::log(1 + 4.5f / 0.5f));
  EXPECT_FLOAT_EQ(snapshot.Idf(999), snapshot.Idf(4));
}

TEST(Snapshot, GivesBackTheTermsOfADocument) {
  const Snapshot snapshot = Example("termsof");
  const DocumentTerms terms = snapshot.TermsOf(0);
  EXPECT_THAT(terms.description, ElementsAre(0u, 1u));
  ASSERT_EQ(terms.chunks.size(), 2u);
  EXPECT_THAT(terms.chunks[0].body, ElementsAre(Pack(0, 2), Pack(2, 1)));
}

TEST(ScoreField, IsBm25ByHand) {
  const Snapshot snapshot = Example("bm25");
  const QueryTerms query = ReadQuery(snapshot, {"copy"});
  const std::vector<float> scores =
      ScoreField(snapshot.Field(kMainField), query.terms, {1.2f, 0.75f});
  // Lengths of the main bodies: 4 and 4, so the length norm is 1; tf = 4.
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_FLOAT_EQ(scores[0], 0);
  EXPECT_NEAR(scores[1], snapshot.Idf(3) * 4 * 2.2 / (4 + 1.2), 1e-5);
}

TEST(ReadQuery, WeighsRepeatsPairsNeighboursAndCountsTheUnknown) {
  const Snapshot snapshot = Example("query");
  const QueryTerms query = ReadQuery(snapshot, {"bank", "zzz", "conflict", "bank"});
  ASSERT_EQ(query.terms.size(), 3u);
  EXPECT_FLOAT_EQ(query.terms[0].weight, 1 + std::log(2.0f));
  EXPECT_EQ(query.terms[1].id, kNoTerm);
  EXPECT_THAT(query.pairs, ElementsAre(Pair(0u, 1u), Pair(1u, 0u)));
  EXPECT_NEAR(query.mass, query.terms[0].weight * snapshot.Idf(0) + query.top_idf + snapshot.Idf(1),
              1e-5);
}

TEST(ScoreLexicalLegs, PairsCountOnlyInTheirOrder) {
  const Snapshot snapshot = Example("pairs");
  const LegScores legs = ScoreLexicalLegs(snapshot, ReadQuery(snapshot, {"bank", "conflict"}));
  EXPECT_GT(legs.by_bundle[kLegPair][0], 0);  // "bank conflict"
  EXPECT_EQ(legs.by_bundle[kLegPair][1], 0);  // "conflict bank"
}

TEST(AssembleSnapshot, NothingIsAWholeSnapshotToo) {
  const std::string path = testing::TempDir() + "/snapshot_test_empty";
  WriteSnapshot(path, AssembleSnapshot({}, 0), {}, {});
  const Snapshot snapshot(path);
  EXPECT_TRUE(snapshot.docs().empty());
  EXPECT_EQ(snapshot.FindTerm("bank"), kNoTerm);
  const LegScores legs = ScoreLexicalLegs(snapshot, ReadQuery(snapshot, {"bank"}));
  EXPECT_TRUE(legs.best_chunk.empty());
}

}  // namespace
}  // namespace kb
