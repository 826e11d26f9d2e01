#include "indexer/retriever.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "indexer/aliases.h"
#include "indexer/legs.h"
#include "indexer/lsa.h"
#include "indexer/snapshot.h"
#include "indexer/tokenizer.h"
#include "indexer/vectors.h"
#include "kb/error.h"

namespace kb {
namespace {

// Below this confidence nothing applies: chance matches grow with the corpus. A line through two
// corpora at whose ends about 3 in 100 answerable questions are refused, 84 passages of ten CUDA
// skills and 9,112 of 343 skills (ARCHITECTURE.md); not extrapolated.
double Threshold(size_t passages) {
  return 1.23 + 0.31 * std::log(std::clamp(static_cast<double>(passages), 84.0, 9112.0));
}

constexpr double kMassPower = 0.3;    // long questions of rare words are surer signs
constexpr float kAliasWeight = 0.2f;  // of a term that only means what the question says
constexpr double kTail = 0.2;         // hits below this share of the best score are no answers
constexpr int kMostHits = 1000;
constexpr size_t kMostQueryBytes = 16384;

bool Uses(Variant variant, Leg leg) {
  if (variant == Variant::kFull) return true;
  return (variant == Variant::kDense) == (leg == kLegDense);
}

std::unique_ptr<Snapshot> OpenSnapshot(Catalog* catalog, const std::string& kb_dir,
                                       int64_t* generation) {
  for (int tries = 0;; ++tries) {
    catalog->BeginRead();
    *generation = catalog->Generation();
    if (*generation == 0) throw Error("nothing is indexed yet; run kb index");
    try {
      return std::make_unique<Snapshot>(fmt::format("{}/index-{}", kb_dir, *generation));
    } catch (const Error&) {
      // Another process may have replaced it between the two reads: look again.
      catalog->EndRead();
      if (tries == 5) throw;
    }
  }
}

bool HasTag(const Scope& scope, const std::string& tag) {
  return std::ranges::find(scope.topics, tag) != scope.topics.end();
}

bool Admits(const Filters& filters, const CatalogDocument& document) {
  const Scope& scope = document.scope;
  if (!filters.kinds.empty() &&
      std::ranges::find(filters.kinds, document.kind) == filters.kinds.end()) {
    return false;
  }
  if (!filters.arch.empty() && !MatchesArch(scope.arch, filters.arch)) return false;
  if (!filters.cuda.empty() && !MatchesCuda(scope.cuda, filters.cuda)) return false;
  if (!filters.dtype.empty() && !scope.dtypes.empty() &&
      std::ranges::find(scope.dtypes, filters.dtype) == scope.dtypes.end()) {
    return false;
  }
  if (!filters.bound.empty() && !scope.bound.empty() && scope.bound != filters.bound) return false;
  if (!filters.state.empty() && document.state != filters.state) return false;
  if (!filters.license.empty() && document.license != filters.license) return false;
  return std::ranges::all_of(filters.tags, [&](const std::string& t) { return HasTag(scope, t); });
}

// Which filter keeps a document out, and what the document says instead; "" if none does.
std::string WhyExcluded(const Filters& filters, const CatalogDocument& document) {
  const Scope& scope = document.scope;
  const auto only = [&](const Filters& one) { return !Admits(one, document); };
  const auto said = [](const std::string& value) { return value.empty() ? "nothing" : value; };
  if (only({.kinds = filters.kinds}))
    return std::string("--kind (it is a ") + KindName(document.kind) + ")";
  if (only({.arch = filters.arch}))
    return "--arch " + filters.arch + " (it is for " + scope.arch + ")";
  if (only({.cuda = filters.cuda}))
    return "--cuda " + filters.cuda + " (it is for " + scope.cuda + ")";
  if (only({.dtype = filters.dtype})) return "--dtype " + filters.dtype;
  if (only({.bound = filters.bound}))
    return "--bound " + filters.bound + " (it is for " + scope.bound + ")";
  if (only({.tags = filters.tags})) return "--tag";
  if (only({.state = filters.state}))
    return "--state " + filters.state + " (it says " + said(document.state) + ")";
  if (only({.license = filters.license}))
    return "--license " + filters.license + " (it says " + said(document.license) + ")";
  return "";
}

bool IsEmpty(const Filters& f) {
  return f.kinds.empty() && f.arch.empty() && f.cuda.empty() && f.dtype.empty() &&
         f.bound.empty() && f.tags.empty() && f.state.empty() && f.license.empty();
}

}  // namespace

struct Retriever::Rep {
  explicit Rep(const std::string& dir)
      : kb_dir(dir),
        catalog(dir, Catalog::Mode::kRead),
        snapshot(OpenSnapshot(&catalog, dir, &generation)) {}

  // Which bundles may be shown at all. Refuted entries only when they are asked for by state.
  std::vector<bool> Admitted(const Filters& filters) {
    std::vector<bool> admitted(snapshot->bundles().size(), true);
    for (size_t i = 0; i < admitted.size(); ++i) {
      const DocRecord& main = snapshot->docs()[snapshot->bundles()[i].first_doc];
      const bool refuted = static_cast<EvidenceState>(main.state) == EvidenceState::kRefuted;
      admitted[i] = !refuted || filters.state == "refuted";
      if (!admitted[i] || IsEmpty(filters)) continue;
      const std::optional<CatalogDocument> document = catalog.DocumentByRow(main.row);
      admitted[i] = document && Admits(filters, *document);
    }
    return admitted;
  }

  std::string WhyBundleExcluded(const Filters& filters, uint32_t bundle) {
    if (IsEmpty(filters)) return "";
    const DocRecord& main = snapshot->docs()[snapshot->bundles()[bundle].first_doc];
    const std::optional<CatalogDocument> document = catalog.DocumentByRow(main.row);
    return document ? WhyExcluded(filters, *document) : "";
  }

  std::vector<float> EmbedQuery(const std::string& text, const QueryTerms& query) {
    const LsaView lsa = ViewOf(*snapshot);
    if (lsa.dim > 0) {
      std::vector<Packed> row;
      for (const QueryTerm& term : query.terms) {
        const auto times = static_cast<uint32_t>(std::lround(std::exp(term.weight - 1)));
        if (term.id != kNoTerm && !term.alias) row.push_back(Pack(term.id, times));
      }
      return EmbedRow(lsa, row);
    }
    if (snapshot->vector_meta().dim == 0) return {};
    if (embedder == nullptr) embedder = MakeEmbedder(catalog.Meta("embedder"));
    if (embedder == nullptr || embedder->fingerprint() != snapshot->vector_meta().fingerprint) {
      throw Error("the embedder has changed since indexing; run kb index --rebuild");
    }
    const std::vector<std::string> texts = {text};
    return embedder->Embed(texts);
  }

  Hit MakeHit(uint32_t bundle, const LegScores& legs, Variant variant, double score) {
    Hit hit;
    hit.score = score;
    const BundleRecord& record = snapshot->bundles()[bundle];
    const uint32_t chunk = legs.best_chunk[bundle];
    const uint32_t doc = chunk == kNoTerm ? record.first_doc : snapshot->chunk_doc()[chunk];
    hit.chunk_ordinal =
        chunk == kNoTerm ? 0 : static_cast<int>(chunk - snapshot->docs()[doc].first_chunk);
    hit.document = catalog.DocumentByRow(snapshot->docs()[doc].row).value_or(CatalogDocument{});
    hit.chunk = catalog.ChunkByOrdinal(hit.document.row, hit.chunk_ordinal).value_or(Chunk{});
    const auto main = catalog.DocumentByRow(snapshot->docs()[record.first_doc].row);
    hit.bundle_id = main ? main->id : hit.document.id;
    for (int leg = 0; leg < kLegs; ++leg) {
      if (!Uses(variant, static_cast<Leg>(leg))) continue;
      hit.features.push_back({kLegTable[leg].name, legs.by_bundle[leg][bundle],
                              WeightOf(static_cast<Leg>(leg), *snapshot)});
    }
    return hit;
  }

  std::string kb_dir;
  Catalog catalog;
  int64_t generation = 0;
  std::unique_ptr<Snapshot> snapshot;
  std::unique_ptr<Embedder> embedder;
};

namespace {

// Bundles with a score above zero, best first; ties in the order of paths.
std::vector<std::pair<double, uint32_t>> Rank(const LegScores& legs, Variant variant,
                                              const Snapshot& snapshot,
                                              const std::vector<bool>& admitted) {
  std::array<double, kLegs> weights = {};
  for (int leg = 0; leg < kLegs; ++leg) {
    weights[static_cast<size_t>(leg)] = WeightOf(static_cast<Leg>(leg), snapshot);
  }
  std::vector<std::pair<double, uint32_t>> ranked;
  for (uint32_t bundle = 0; bundle < admitted.size(); ++bundle) {
    double fit = 0, score = 0;
    for (int leg = 0; leg < kLegs; ++leg) {
      if (!Uses(variant, static_cast<Leg>(leg))) continue;
      const double part = weights[static_cast<size_t>(leg)] * legs.by_bundle[leg][bundle];
      score += part;
      if (leg != kLegEvidence) fit += part;
    }
    if (admitted[bundle] && fit > 0) ranked.emplace_back(score, bundle);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return ranked;
}

// A word that the index lacks but knows by another name (H100: sm_90) is not a foreign subject:
// it leaves the mass.
void ForgiveKnownByAnotherName(const Snapshot& snapshot, const std::vector<std::string>& words,
                               QueryTerms* query) {
  const auto known = [&](const AliasTerm& alias) {
    return std::ranges::any_of(Tokenize(alias.term), [&](const std::string& t) {
      return snapshot.FindTerm(t) != kNoTerm;
    });
  };
  std::vector<std::string_view> seen;
  for (const std::string& word : words) {
    if (std::ranges::find(seen, word) != seen.end()) continue;
    seen.push_back(word);
    if (snapshot.FindTerm(word) != kNoTerm) continue;
    if (std::ranges::any_of(ExpandAliases(word), known)) query->mass -= query->top_idf;
  }
}

QueryTerms ReadWithAliases(const Snapshot& snapshot, const std::string& text,
                           const std::vector<std::string>& words) {
  QueryTerms query = ReadQuery(snapshot, words);
  for (const AliasTerm& alias : ExpandAliases(text)) {
    AddAlias(snapshot, Tokenize(alias.term), kAliasWeight * alias.weight, &query);
  }
  ForgiveKnownByAnotherName(snapshot, words, &query);
  return query;
}

// A question that is little more than names the index knows is a look-up and always answered:
// half of its mass is identifiers, or it has at most two words and all are known.
bool IsLookup(const Snapshot& snapshot, const QueryTerms& query, std::string_view text) {
  const auto known = [](const QueryTerm& term) { return term.id != kNoTerm && !term.alias; };
  const auto asked =
      std::ranges::count_if(query.terms, [](const QueryTerm& t) { return !t.alias; });
  if (asked <= 2 && std::ranges::count_if(query.terms, known) == asked) return true;
  std::vector<TermId> named;
  for (const std::string& identifier : Identifiers(text)) {
    const std::vector<std::string> terms = Tokenize(identifier);
    if (terms.empty() || snapshot.FindTerm(terms[0]) == kNoTerm) continue;
    for (const std::string& term : terms) named.push_back(snapshot.FindTerm(term));
  }
  float mass = 0;
  for (const QueryTerm& term : query.terms) {
    if (known(term) && std::ranges::find(named, term.id) != named.end()) {
      mass += term.weight * term.idf;
    }
  }
  return mass >= query.mass / 2 && mass > 0;
}

// The words of the question, as written, of which the index has nothing.
std::string UnknownWords(std::string_view text, const Snapshot& snapshot) {
  std::string out;
  size_t words = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \t\r\n,;!?()\"", at), text.size());
    const std::string word(text.substr(at, end - at));
    at = end + 1;
    const std::vector<std::string> terms = Tokenize(word);
    words += terms.size();
    const bool known = std::ranges::any_of(
        terms, [&](const std::string& t) { return snapshot.FindTerm(t) != kNoTerm; });
    if (!terms.empty() && !known) out += (out.empty() ? "" : ", ") + word;
  }
  if (words == 0) return "the question has no words to search for";
  return out.empty() ? "no document is about these words together" : "not known here: " + out;
}

}  // namespace

Retriever::Retriever(const std::string& kb_dir) : rep_(std::make_unique<Rep>(kb_dir)) {}
Retriever::~Retriever() = default;
Retriever::Retriever(Retriever&&) noexcept = default;

Answer Retriever::Search(const Query& query) {
  Snapshot& snapshot = *rep_->snapshot;
  const std::string text = query.text.substr(0, kMostQueryBytes);
  const std::vector<std::string> words = Tokenize(text);
  const QueryTerms terms = ReadWithAliases(snapshot, text, words);
  LegScores legs = ScoreLexicalLegs(snapshot, terms);
  if (query.variant != Variant::kLexical) {
    const std::vector<float> vector = rep_->EmbedQuery(text, terms);
    if (!vector.empty()) legs.by_bundle[kLegDense] = ScoreDenseLeg(snapshot, vector);
  }
  const auto ranked = Rank(legs, query.variant, snapshot, rep_->Admitted(query.filters));
  const auto nearest =
      IsEmpty(query.filters) ? ranked : Rank(legs, query.variant, snapshot, rep_->Admitted({}));

  Answer answer;
  answer.threshold = Threshold(snapshot.chunk_doc().size());
  const double reach = std::pow(terms.mass / std::max(terms.top_idf, 1e-6f), kMassPower);
  answer.confidence = ranked.empty() ? 0 : ranked[0].first * reach;
  // A look-up is answered however weak the match, but not by what the filters left over.
  const bool lookup =
      !ranked.empty() && ranked[0].second == nearest[0].second && IsLookup(snapshot, terms, text);
  answer.nothing_applies = ranked.empty() || (answer.confidence < answer.threshold && !lookup);
  if (answer.nothing_applies) {
    answer.why = UnknownWords(text, snapshot);
    if (!nearest.empty()) {
      const auto [score, bundle] = nearest[0];
      answer.nearest_miss = rep_->MakeHit(bundle, legs, query.variant, score);
      const std::string excluded = rep_->WhyBundleExcluded(query.filters, bundle);
      if (!excluded.empty()) answer.why = "the nearest is kept out by " + excluded;
    }
    if (!query.always_answer) return answer;
  }
  const size_t k = static_cast<size_t>(std::clamp(query.k, 0, kMostHits));
  for (size_t i = 0; i < std::min(k, ranked.size()); ++i) {
    if (!query.always_answer && ranked[i].first < kTail * ranked[0].first) break;
    answer.hits.push_back(rep_->MakeHit(ranked[i].second, legs, query.variant, ranked[i].first));
  }
  return answer;
}

std::string Retriever::PassageText(const Hit& hit) {
  const std::string text = rep_->catalog.Text(hit.document.row);
  const auto size = static_cast<int64_t>(text.size());
  const int64_t begin = std::clamp<int64_t>(hit.chunk.begin, 0, size);
  const int64_t end = std::clamp<int64_t>(hit.chunk.end, begin, size);
  return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

Catalog& Retriever::catalog() { return rep_->catalog; }
int64_t Retriever::generation() const { return rep_->generation; }

bool Retriever::IsOutdated() {
  const std::string path = fmt::format("{}/index-{}", rep_->kb_dir, rep_->generation);
  return access(path.c_str(), F_OK) != 0;
}

}  // namespace kb
