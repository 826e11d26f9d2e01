// Answers a question from the index: which passages, in what order, and why; or that nothing
// applies. Reads one generation of `.kb/`; never writes. One object per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kb/catalog.h"

namespace kb {

// A leg alone, or all of them mixed.
enum class Variant { kFull, kLexical, kDense };

// Filters come before scoring; an empty one admits all. A document that does not say what it
// applies to is admitted.
struct Filters {
  std::vector<Kind> kinds = {};
  std::string arch = {};               // "sm_90"
  std::string cuda = {};               // "13.0"
  std::string dtype = {};              // "bf16"
  std::string bound = {};              // memory | compute | latency
  std::vector<std::string> tags = {};  // each must be one of the document's topics
  std::string state = {};              // nnk: proved, replicated, ...
  std::string license = {};
};

struct Query {
  std::string text = {};
  Filters filters = {};
  int k = 10;
  Variant variant = Variant::kFull;
  bool always_answer = false;  // hits even if nothing applies (to judge the ranking)
};

// One part of a score: contribution = weight * value.
struct Feature {
  const char* name = "";  // "bm25_chunk", "dense", ...
  double value = 0;       // after normalisation
  double weight = 0;
};

// A bundle's best passage. A bundle (a skill with its references, an NNK entry, a lone
// document) occurs once in an answer.
struct Hit {
  CatalogDocument document;  // the document that holds the passage
  std::string bundle_id;     // the id of the bundle's SKILL.md or NNK.md; else the document's
  Chunk chunk;
  int chunk_ordinal = 0;  // within the document, 0-based
  double score = 0;
  std::vector<Feature> features;
};

struct Answer {
  std::vector<Hit> hits;  // best first, at most k; empty: nothing applies
  bool nothing_applies = false;
  double confidence = 0;            // refusal score: higher is surer that something applies
  double threshold = 0;             // below it: nothing applies
  std::optional<Hit> nearest_miss;  // when nothing applies
  std::string why;                  // one line: why nothing applies, or ""
};

class Retriever {
 public:
  // Throws Error if nothing is indexed in `kb_dir` (says: run kb index).
  explicit Retriever(const std::string& kb_dir);
  ~Retriever();
  Retriever(Retriever&&) noexcept;

  // Deterministic: same index, same query, same answer. An empty question has no hits.
  [[nodiscard]] Answer Search(const Query& query);

  // The text of a hit's passage, as indexed.
  [[nodiscard]] std::string PassageText(const Hit& hit);

  [[nodiscard]] Catalog& catalog();
  [[nodiscard]] int64_t generation() const;
  // True if another process has written a newer generation since this was opened.
  [[nodiscard]] bool IsOutdated();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
