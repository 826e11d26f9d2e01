#include "indexer/bm25.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace kb {

QueryTerms ReadQuery(const Snapshot& snapshot, const std::vector<std::string>& terms) {
  QueryTerms out;
  std::map<std::string_view, size_t> place;
  std::vector<int> times;
  TermId before = kNoTerm;
  const auto n = static_cast<double>(snapshot.chunk_doc().size());
  out.top_idf = static_cast<float>(std::log(1.0 + (n + 0.5) / 0.5));
  for (const std::string& term : terms) {
    const TermId id = snapshot.FindTerm(term);
    const auto [at, added] = place.try_emplace(term, out.terms.size());
    if (added) {
      out.terms.push_back({id, 0, id == kNoTerm ? out.top_idf : snapshot.Idf(id), false});
      times.push_back(0);
    }
    ++times[at->second];
    const std::pair pair(before, id);
    if (before != kNoTerm && id != kNoTerm &&
        std::ranges::find(out.pairs, pair) == out.pairs.end()) {
      out.pairs.push_back(pair);
    }
    if (id != kNoTerm) before = id;
  }
  for (size_t i = 0; i < times.size(); ++i) {
    QueryTerm& term = out.terms[i];
    term.weight = term.id == kNoTerm ? 1.0f : 1.0f + std::log(static_cast<float>(times[i]));
    out.mass += term.weight * term.idf;
  }
  return out;
}

void AddAlias(const Snapshot& snapshot, const std::vector<std::string>& terms, float weight,
              QueryTerms* query) {
  for (const std::string& term : terms) {
    const TermId id = snapshot.FindTerm(term);
    const bool asked =
        std::ranges::any_of(query->terms, [&](const QueryTerm& t) { return t.id == id; });
    if (id != kNoTerm && !asked) query->terms.push_back({id, weight, snapshot.Idf(id), true});
  }
}

std::vector<float> ScoreField(const FieldView& field, const std::vector<QueryTerm>& terms,
                              Bm25 bm25) {
  const std::span<const float> lengths = field.lengths;
  std::vector<float> scores(lengths.size(), 0.0f);
  if (lengths.empty()) return scores;
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const float average =
      std::max(static_cast<float>(sum / static_cast<double>(lengths.size())), 1e-9f);
  const float base = bm25.k1 * (1 - bm25.b), slope = bm25.k1 * bm25.b / average;
  for (const QueryTerm& term : terms) {
    if (term.id == kNoTerm) continue;
    const float gain = term.weight * term.idf * (bm25.k1 + 1);
    for (const Packed p : field.postings[term.id]) {
      const uint32_t unit = PackedId(p);
      if (unit >= scores.size()) continue;
      const auto tf = static_cast<float>(PackedCount(p));
      scores[unit] += gain * tf / (tf + base + slope * lengths[unit]);
    }
  }
  return scores;
}

}  // namespace kb
