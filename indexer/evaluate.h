// Judges a retriever against questions with known answers.
#pragma once

#include <string>
#include <vector>

#include "indexer/retriever.h"
#include "kb/value.h"

namespace kb {

// A question of a JSON-lines file: {"id", "query", "expected"}; `expected` is null (nothing
// should apply), an id, a list of ids, or a map of id to grade (1..3).
struct Question {
  std::string id;
  std::string query;
  std::vector<std::pair<std::string, int>> expected;  // bundle id or document path, grade
  Value fields;                                       // the whole line
};

// Bad lines are diagnostics ("FILE:LINE: ..."); the rest is read.
[[nodiscard]] std::vector<Question> ReadQuestions(std::string_view text, std::string_view path,
                                                  Diagnostics* diagnostics);

// A mean with its 95 % percentile bootstrap interval (1,000 resamples, fixed seed).
struct Estimate {
  double mean = 0, low = 0, high = 0;
};

struct VariantScore {
  const char* variant = "";  // "full", "lexical", "dense"
  int answerable = 0, unanswerable = 0;
  Estimate recall_at_1, recall_at_5, recall_at_10, mrr, ndcg_at_10;
  // Of the confidence: answerable against unanswerable. 0.5 is chance; NaN without both.
  double refusal_auroc = 0;
  int refused_rightly = 0, refused_wrongly = 0;
  double p50_ms = 0, p99_ms = 0;  // in this process, after the index is open
};

[[nodiscard]] VariantScore EvaluateRetrieval(Retriever& retriever,
                                             const std::vector<Question>& questions,
                                             Variant variant);

// Percentile bootstrap of the mean of `samples`. Empty: zeros.
[[nodiscard]] Estimate BootstrapMean(const std::vector<double>& samples);

// Area under the ROC curve: the chance that a positive scores above a negative, ties half.
[[nodiscard]] double Auroc(const std::vector<double>& positives,
                           const std::vector<double>& negatives);

}  // namespace kb
