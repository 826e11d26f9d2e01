#include "indexer/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "kb/json.h"
#include "kb/markdown.h"

namespace kb {
namespace {

constexpr int kResamples = 1000;
constexpr int kDepth = 10;

void AddExpected(const Value& value, Question* question) {
  if (value.IsString()) question->expected.emplace_back(value.AsString(), 1);
  for (const Value& id : value.AsList()) question->expected.emplace_back(id.AsString(), 1);
  for (const auto& [id, grade] : value.AsMap()) {
    question->expected.emplace_back(id, static_cast<int>(grade.AsInt(1)));
  }
}

bool IsInFolder(std::string_view path, const std::string& name) {
  return path.starts_with(name + "/") || path.find("/" + name + "/") != path.npos;
}

// The grade of a hit: its bundle, its document, or a folder that holds it, as the question names
// them. 0: not expected.
int Grade(const Question& question, const Hit& hit) {
  int best = 0;
  for (const auto& [id, grade] : question.expected) {
    const bool same = id == hit.bundle_id || id == hit.document.id || id == hit.document.path ||
                      IsInFolder(hit.document.path, id);
    if (same) best = std::max(best, grade);
  }
  return best;
}

double Gain(int grade, size_t rank) {
  return (std::pow(2.0, grade) - 1) / std::log2(static_cast<double>(rank) + 1);
}

// nDCG over the first kDepth hits (Järvelin and Kekäläinen 2002, gain 2^grade - 1).
double Ndcg(const Question& question, const std::vector<int>& grades) {
  std::vector<int> ideal;
  for (const auto& [id, grade] : question.expected) ideal.push_back(grade);
  std::sort(ideal.rbegin(), ideal.rend());
  double got = 0, best = 0;
  for (size_t i = 0; i < std::min<size_t>(grades.size(), kDepth); ++i)
    got += Gain(grades[i], i + 1);
  for (size_t i = 0; i < std::min<size_t>(ideal.size(), kDepth); ++i) best += Gain(ideal[i], i + 1);
  return best > 0 ? std::min(got / best, 1.0) : 0.0;
}

// 1-based rank of the first expected hit; 0: none.
size_t FirstRank(const std::vector<int>& grades) {
  for (size_t i = 0; i < grades.size(); ++i) {
    if (grades[i] > 0) return i + 1;
  }
  return 0;
}

struct Samples {
  std::vector<double> at_1, at_5, at_10, reciprocal, ndcg, milliseconds;
  std::vector<double> answerable_confidence, unanswerable_confidence;
};

void Judge(const Question& question, const Answer& answer, Samples* samples) {
  std::vector<int> grades;
  for (const Hit& hit : answer.hits) grades.push_back(Grade(question, hit));
  const size_t rank = FirstRank(grades);
  const auto within = [&](size_t depth) { return rank > 0 && rank <= depth ? 1.0 : 0.0; };
  samples->at_1.push_back(within(1));
  samples->at_5.push_back(within(5));
  samples->at_10.push_back(within(10));
  samples->reciprocal.push_back(rank > 0 ? 1.0 / static_cast<double>(rank) : 0.0);
  samples->ndcg.push_back(Ndcg(question, grades));
  samples->answerable_confidence.push_back(answer.confidence);
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  return values[static_cast<size_t>(std::lround(at))];
}

}  // namespace

std::vector<Question> ReadQuestions(std::string_view text, std::string_view path,
                                    Diagnostics* diagnostics) {
  std::vector<Question> questions;
  const std::vector<std::string_view> lines = SplitLines(text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].find_first_not_of(" \t") == std::string_view::npos) continue;
    const int line = static_cast<int>(i) + 1;
    std::string why;
    const std::optional<Value> value = ParseJson(lines[i], &why);
    if (!value || !(*value)["query"].IsString()) {
      diagnostics->push_back(
          {Severity::kError, "questions-line", std::string(path), line,
           value ? "no \"query\" string" : "not JSON: " + why,
           "write {\"id\": ..., \"query\": ..., \"expected\": ...} on one line"});
      continue;
    }
    Question question;
    question.id = (*value)["id"].ToText();
    question.query = (*value)["query"].AsString();
    question.fields = *value;
    AddExpected((*value)["expected"], &question);
    questions.push_back(std::move(question));
  }
  return questions;
}

Estimate BootstrapMean(const std::vector<double>& samples) {
  if (samples.empty()) return {};
  const auto mean = [](const std::vector<double>& v) {
    double sum = 0;
    for (const double x : v) sum += x;
    return sum / static_cast<double>(v.size());
  };
  std::mt19937_64 random(20260101);
  std::vector<double> means, resample(samples.size());
  for (int i = 0; i < kResamples; ++i) {
    for (double& x : resample) x = samples[random() % samples.size()];
    means.push_back(mean(resample));
  }
  return {mean(samples), Quantile(means, 0.025), Quantile(means, 0.975)};
}

double Auroc(const std::vector<double>& positives, const std::vector<double>& negatives) {
  if (positives.empty() || negatives.empty()) return std::numeric_limits<double>::quiet_NaN();
  double won = 0;
  for (const double p : positives) {
    for (const double n : negatives) won += p > n ? 1.0 : p == n ? 0.5 : 0.0;
  }
  return won / static_cast<double>(positives.size()) / static_cast<double>(negatives.size());
}

VariantScore EvaluateRetrieval(Retriever& retriever, const std::vector<Question>& questions,
                               Variant variant) {
  constexpr const char* kNames[] = {"full", "lexical", "dense"};
  VariantScore out;
  out.variant = kNames[static_cast<int>(variant)];
  Samples samples;
  for (const Question& question : questions) {
    const auto start = std::chrono::steady_clock::now();
    const Answer answer = retriever.Search({.text = question.query,
                                            .filters = {},
                                            .k = kDepth,
                                            .variant = variant,
                                            .always_answer = true});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    samples.milliseconds.push_back(took.count());
    const bool answerable = !question.expected.empty();
    (answerable ? out.answerable : out.unanswerable) += 1;
    if (answer.nothing_applies) (answerable ? out.refused_wrongly : out.refused_rightly) += 1;
    if (answerable) {
      Judge(question, answer, &samples);
    } else {
      samples.unanswerable_confidence.push_back(answer.confidence);
    }
  }
  out.recall_at_1 = BootstrapMean(samples.at_1);
  out.recall_at_5 = BootstrapMean(samples.at_5);
  out.recall_at_10 = BootstrapMean(samples.at_10);
  out.mrr = BootstrapMean(samples.reciprocal);
  out.ndcg_at_10 = BootstrapMean(samples.ndcg);
  out.refusal_auroc = Auroc(samples.answerable_confidence, samples.unanswerable_confidence);
  out.p50_ms = Quantile(samples.milliseconds, 0.5);
  out.p99_ms = Quantile(samples.milliseconds, 0.99);
  return out;
}

}  // namespace kb
