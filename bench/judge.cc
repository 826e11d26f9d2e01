#include "bench/judge.h"

#include <algorithm>

namespace kb::bench {
namespace {

// NAME of "skills/NAME/...".
std::string SkillOf(const std::string& path) {
  const size_t begin = path.rfind("skills/", 0) == 0 ? 0 : path.find("/skills/") + 1;
  const size_t name = begin + std::string("skills/").size();
  return path.substr(name, path.find('/', name) - name);
}

}  // namespace

std::vector<Question> Unnamed(const std::vector<Question>& questions) {
  std::vector<Question> unnamed;
  for (const Question& question : questions) {
    if (!question.fields["named"].AsBool()) unnamed.push_back(question);
  }
  return unnamed;
}

size_t RankOf(const Question& question, const Ranking& ranking) {
  for (size_t i = 0; i < std::min<size_t>(ranking.skills.size(), kDepth); ++i) {
    for (const auto& [skill, grade] : question.expected) {
      if (skill == ranking.skills[i]) return i + 1;
    }
  }
  return 0;
}

Quality Summarize(const std::vector<Question>& questions, const std::vector<Ranking>& rankings,
                  const std::vector<double>& seconds) {
  Quality quality;
  std::vector<double> sure, unsure;
  for (size_t i = 0; i < questions.size(); ++i) {
    const bool answerable = !questions[i].expected.empty();
    (answerable ? sure : unsure).push_back(rankings[i].confidence);
    if (!answerable) continue;
    const size_t rank = RankOf(questions[i], rankings[i]);
    quality.recall_at_1 += rank == 1 ? 1 : 0;
    quality.recall_at_5 += rank >= 1 && rank <= 5 ? 1 : 0;
    quality.mrr += rank > 0 ? 1.0 / static_cast<double>(rank) : 0;
  }
  quality.answerable = static_cast<int>(sure.size());
  quality.unanswerable = static_cast<int>(unsure.size());
  for (double* sum : {&quality.recall_at_1, &quality.recall_at_5, &quality.mrr}) {
    *sum /= std::max(1.0, static_cast<double>(sure.size()));
  }
  quality.auroc = Auroc(sure, unsure);
  quality.p50_ms = 1000 * Quantile(seconds, 0.5);
  quality.p99_ms = 1000 * Quantile(seconds, 0.99);
  return quality;
}

Quality JudgeKb(const std::string& kb_dir, const std::vector<Question>& questions) {
  Retriever retriever(kb_dir);
  return JudgeAll(questions, [&](const std::string& text) {
    const Answer answer =
        retriever.Search({.text = text, .filters = {}, .k = kDepth, .always_answer = true});
    Ranking ranking;
    ranking.confidence = answer.confidence;
    for (const Hit& hit : answer.hits) {
      const std::string skill = SkillOf(hit.document.path);
      if (std::ranges::find(ranking.skills, skill) == ranking.skills.end()) {
        ranking.skills.push_back(skill);
      }
    }
    return ranking;
  });
}

}  // namespace kb::bench
