#include "indexer/legs.h"

#include <algorithm>
#include <cmath>

#include "indexer/vector_index.h"

namespace kb {
namespace {

constexpr Bm25 kChunkBm25 = {1.2f, 0.9f};
constexpr Bm25 kDocBm25 = {1.2f, 0.75f};
constexpr Bm25 kPairBm25 = {1.2f, 0.5f};
constexpr int kApproximateDepth = 1000;      // passages that an approximate search brings up
constexpr double kWellTrained = 9112;        // passages from which LSA has its full weight
constexpr float kLeastDescriptionMass = 40;  // so that a two-word description is not "covered"

// The best unit of each bundle: its score, and which one.
std::vector<float> BestByBundle(const std::vector<float>& units, size_t bundles,
                                const auto& bundle_of, std::vector<uint32_t>* best_unit) {
  std::vector<float> best(bundles, 0.0f);
  if (best_unit != nullptr) best_unit->assign(bundles, kNoTerm);
  for (uint32_t unit = 0; unit < units.size(); ++unit) {
    const uint32_t bundle = bundle_of(unit);
    if (bundle >= bundles) continue;
    const bool first = best_unit != nullptr && (*best_unit)[bundle] == kNoTerm;
    if (!first && units[unit] <= best[bundle]) continue;
    best[bundle] = units[unit];
    if (best_unit != nullptr) (*best_unit)[bundle] = unit;
  }
  return best;
}

// Share of each description's idf mass, distinct terms, that the question names.
std::vector<float> Coverage(const Snapshot& snapshot, const QueryTerms& query) {
  const FieldView field = snapshot.Field(kDescriptionField);
  const std::span<const float> masses = snapshot.file().Section<float>(kDescriptionMass);
  std::vector<float> out(snapshot.bundles().size(), 0.0f);
  for (const QueryTerm& term : query.terms) {
    if (term.id == kNoTerm || term.alias) continue;
    for (const Packed p : field.postings[term.id]) {
      if (PackedId(p) < out.size()) out[PackedId(p)] += term.idf;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] /= std::max(i < masses.size() ? masses[i] : 0.0f, kLeastDescriptionMass);
  }
  return out;
}

// How often `pair` stands in the description of each bundle that has its first term.
std::vector<std::pair<uint32_t, float>> CountPair(const Snapshot& snapshot, const FieldView& field,
                                                  std::pair<TermId, TermId> pair) {
  const RowsView<TermId> descriptions = snapshot.Sequence(kDescriptionRows);
  std::vector<std::pair<uint32_t, float>> found;
  for (const Packed p : field.postings[pair.first]) {
    const uint32_t bundle = PackedId(p);
    if (bundle >= snapshot.bundles().size()) continue;
    const std::span<const TermId> row = descriptions[snapshot.bundles()[bundle].first_doc];
    float count = 0;
    for (size_t i = 1; i < row.size(); ++i) {
      count += row[i - 1] == pair.first && row[i] == pair.second ? 1.0f : 0.0f;
    }
    if (count > 0) found.emplace_back(bundle, count);
  }
  return found;
}

// BM25 over neighbouring words of the descriptions; a pair's df counts descriptions.
std::vector<float> Pairs(const Snapshot& snapshot, const QueryTerms& query) {
  const FieldView field = snapshot.Field(kDescriptionField);
  const size_t n = snapshot.bundles().size();
  std::vector<float> out(n, 0.0f);
  float average = 0;  // pairs a description
  for (const float length : field.lengths) average += std::max(length - 1, 0.0f);
  average = std::max(average / static_cast<float>(std::max<size_t>(n, 1)), 1e-9f);
  for (const auto& pair : query.pairs) {
    const auto found = CountPair(snapshot, field, pair);
    const auto df = static_cast<double>(found.size());
    const auto idf =
        static_cast<float>(std::log(1.0 + (static_cast<double>(n) - df + 0.5) / (df + 0.5)));
    for (const auto& [bundle, tf] : found) {
      const float length = std::max(field.lengths[bundle] - 1, 0.0f) / average;
      out[bundle] += idf * tf * (kPairBm25.k1 + 1) /
                     (tf + kPairBm25.k1 * (1 - kPairBm25.b + kPairBm25.b * length));
    }
  }
  return out;
}

// A tie-breaker between passages that fit alike, never a reason to answer.
float EvidenceBonus(EvidenceState state) {
  switch (state) {
    case EvidenceState::kReplicated:
      return 0.05f;
    case EvidenceState::kProved:
      return 0.03f;
    case EvidenceState::kStale:
      return -0.10f;
    case EvidenceState::kRefuted:
      return -0.50f;
    case EvidenceState::kNone:
      return 0.0f;
  }
  return 0.0f;
}

std::vector<float> Evidence(const Snapshot& snapshot) {
  std::vector<float> out;
  for (const BundleRecord& bundle : snapshot.bundles()) {
    out.push_back(
        EvidenceBonus(static_cast<EvidenceState>(snapshot.docs()[bundle.first_doc].state)));
  }
  return out;
}

// The similarity of each bundle's nearest passage; 0 for those that an approximate search does
// not bring up.
std::vector<float> BestPassages(const Snapshot& snapshot, int dim,
                                const std::vector<float>& query) {
  std::vector<float> best(snapshot.bundles().size(), 0.0f);
  const std::span<const uint32_t> chunk_doc = snapshot.chunk_doc();
  const auto take = [&](size_t chunk, float similarity) {
    const uint32_t doc = chunk < chunk_doc.size() ? chunk_doc[chunk] : kNoTerm;
    if (doc >= snapshot.docs().size()) return;
    float& of_bundle = best[snapshot.docs()[doc].bundle];
    of_bundle = std::max(of_bundle, similarity);
  };
  const std::span<const char> approximate = snapshot.file().Section<char>(kIvf);
  if (!approximate.empty()) {
    const ApproximateIndex index({approximate.data(), approximate.size()});
    for (const Neighbour& n : index.Nearest(query, kApproximateDepth)) {
      take(static_cast<size_t>(n.row), n.similarity);
    }
    return best;
  }
  const std::vector<float> all =
      AllSimilarities(snapshot.file().Section<float>(kChunkVectors), dim, query);
  for (size_t chunk = 0; chunk < all.size(); ++chunk) take(chunk, all[chunk]);
  return best;
}

void Divide(float by, std::vector<float>* values) {
  for (float& value : *values) value /= by;
}

// The passage of each bundle that is shown: the best one, a list of sources only for want of
// another.
std::vector<uint32_t> ShownChunks(const Snapshot& snapshot, std::vector<float> chunks,
                                  const auto& bundle_of_chunk) {
  const std::span<const uint8_t> apparatus = snapshot.file().Section<uint8_t>(kChunkApparatus);
  for (size_t i = 0; i < std::min(chunks.size(), apparatus.size()); ++i) {
    if (apparatus[i] != 0) chunks[i] *= 0.25f;
  }
  std::vector<uint32_t> best;
  (void)BestByBundle(chunks, snapshot.bundles().size(), bundle_of_chunk, &best);
  return best;
}

}  // namespace

double WeightOf(Leg leg, const Snapshot& snapshot) {
  const double weight = kLegTable[leg].weight;
  const bool is_lsa = std::string_view(snapshot.vector_meta().fingerprint) == "lsa";
  if (leg != kLegDense || !is_lsa) return weight;
  const auto passages = static_cast<double>(std::max<size_t>(snapshot.chunk_doc().size(), 1));
  return weight * std::min(1.0, std::log(passages) / std::log(kWellTrained));
}

LegScores ScoreLexicalLegs(const Snapshot& snapshot, const QueryTerms& query) {
  LegScores out;
  const size_t bundles = snapshot.bundles().size();
  const std::span<const DocRecord> docs = snapshot.docs();
  const auto bundle_of_doc = [&](uint32_t doc) {
    return doc < docs.size() ? docs[doc].bundle : kNoTerm;
  };
  const auto bundle_of_chunk = [&](uint32_t chunk) {
    return bundle_of_doc(snapshot.chunk_doc()[chunk]);
  };
  std::vector<float> chunks = ScoreField(snapshot.Field(kChunkField), query.terms, kChunkBm25);
  out.by_bundle[kLegChunk] = BestByBundle(chunks, bundles, bundle_of_chunk, nullptr);
  out.best_chunk = ShownChunks(snapshot, std::move(chunks), bundle_of_chunk);
  out.by_bundle[kLegDoc] =
      BestByBundle(ScoreField(snapshot.Field(kDocField), query.terms, kDocBm25), bundles,
                   bundle_of_doc, nullptr);
  out.by_bundle[kLegMain] = ScoreField(snapshot.Field(kMainField), query.terms, kDocBm25);
  out.by_bundle[kLegPair] = Pairs(snapshot, query);
  for (const Leg leg : {kLegChunk, kLegDoc, kLegMain, kLegPair}) {
    out.by_bundle[leg].resize(bundles);
    Divide(std::max(query.mass, 1e-6f), &out.by_bundle[leg]);
  }
  out.by_bundle[kLegCoverage] = Coverage(snapshot, query);
  out.by_bundle[kLegEvidence] = Evidence(snapshot);
  out.by_bundle[kLegDense].assign(bundles, 0.0f);
  return out;
}

std::vector<float> ScoreDenseLeg(const Snapshot& snapshot, const std::vector<float>& query) {
  const size_t bundles = snapshot.bundles().size();
  std::vector<float> out(bundles, 0.0f);
  const auto dim = static_cast<int>(snapshot.vector_meta().dim);
  const std::span<const float> vectors = snapshot.file().Section<float>(kBundleVectors);
  if (dim == 0 || vectors.size() != bundles * static_cast<size_t>(dim)) return out;
  const std::vector<float> descriptions = AllSimilarities(vectors, dim, query);
  const std::vector<float> passages = BestPassages(snapshot, dim, query);
  for (size_t i = 0; i < bundles; ++i) {
    out[i] = (std::max(descriptions[i], 0.0f) + passages[i]) / 2;
  }
  return out;
}

}  // namespace kb
