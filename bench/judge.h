// One judge for every system: lists of skill names, best first, against what was expected.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "indexer/evaluate.h"

namespace kb::bench {

inline constexpr int kDepth = 10;  // ranks below do not count

// What a system answers: skills, best first, each once; and how sure it is.
struct Ranking {
  std::vector<std::string> skills;
  double confidence = 0;
};

struct Quality {
  int answerable = 0, unanswerable = 0;
  double recall_at_1 = 0, recall_at_5 = 0, mrr = 0;  // of the answerable ones
  double auroc = 0;                                  // of the confidence
  double p50_ms = 0, p99_ms = 0;                     // in one process, the index open
};

// Asks each question once to warm up and once more to be measured.
template <typename Ask>
[[nodiscard]] Quality JudgeAll(const std::vector<Question>& questions, const Ask& ask);

// The questions that do not say the skill's name.
[[nodiscard]] std::vector<Question> Unnamed(const std::vector<Question>& questions);

[[nodiscard]] Quality JudgeKb(const std::string& kb_dir, const std::vector<Question>& questions);

struct Fts5 {
  Quality quality;
  double index_s = 0;
  double size_mib = 0;
};

// SQLite FTS5 in `file`, which is made anew: BM25 over whole skills below `folder`
// (FOLDER/NAME/**.md), porter stems, the question's words joined by OR.
[[nodiscard]] Fts5 JudgeFts5(const std::string& folder, const std::string& file,
                             const std::vector<Question>& questions);

// 1-based rank of the expected skill; 0: not within kDepth.
[[nodiscard]] size_t RankOf(const Question& question, const Ranking& ranking);

[[nodiscard]] Quality Summarize(const std::vector<Question>& questions,
                                const std::vector<Ranking>& rankings,
                                const std::vector<double>& seconds);

}  // namespace kb::bench

#include "bench/process.h"

namespace kb::bench {

template <typename Ask>
Quality JudgeAll(const std::vector<Question>& questions, const Ask& ask) {
  std::vector<Ranking> rankings;
  std::vector<double> seconds;
  for (const Question& question : questions) (void)ask(question.query);
  for (const Question& question : questions) {
    const double start = SecondsNow();
    rankings.push_back(ask(question.query));
    seconds.push_back(SecondsNow() - start);
  }
  return Summarize(questions, rankings, seconds);
}

}  // namespace kb::bench
