// kb eval retrieval. With --json:
//   {queries, questions, diagnostics: [...], variants: [{variant, answerable, unanswerable,
//    recall_at_1: {mean, low, high}, recall_at_5, recall_at_10, mrr, ndcg_at_10,
//    refusal_auroc (null: not defined), refused_rightly, refused_wrongly, p50_ms, p99_ms}...]}
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <string>

#include "cli/document_json.h"
#include "cli/progress.h"
#include "cli/run_commands.h"
#include "cli/table.h"
#include "indexer/evaluate.h"
#include "indexer/ingest.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"

namespace kb {
namespace {

constexpr Variant kVariants[] = {Variant::kFull, Variant::kLexical, Variant::kDense};

struct Measure {
  const char* name;    // in JSON
  const char* header;  // in the table
  Estimate VariantScore::*estimate;
  bool gated;
};

constexpr Measure kMeasures[] = {
    {"recall_at_1", "R@1", &VariantScore::recall_at_1, true},
    {"recall_at_5", "R@5", &VariantScore::recall_at_5, true},
    {"recall_at_10", "R@10", &VariantScore::recall_at_10, false},
    {"mrr", "MRR", &VariantScore::mrr, true},
    {"ndcg_at_10", "nDCG@10", &VariantScore::ndcg_at_10, true},
};

std::string Fixed(double number, int digits) {
  if (std::isnan(number)) return "-";
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f", digits, number);
  return text;
}

bool HasField(const Question& question, const std::string& condition) {
  const size_t equals = condition.find('=');
  const Value& value = question.fields[condition.substr(0, equals)];
  const std::string wanted = condition.substr(equals + 1);
  return value.IsNull() ? wanted == "null" : value.ToText() == wanted;
}

std::vector<Question> Selected(std::vector<Question> questions,
                               const std::vector<std::string>& conditions) {
  for (const std::string& condition : conditions) {
    if (condition.find('=') == std::string::npos) {
      throw Error("--only takes KEY=VALUE such as named=false, not '" + condition + "'");
    }
    std::erase_if(questions, [&](const Question& q) { return !HasField(q, condition); });
  }
  return questions;
}

// An index for one folder, kept beside the others so that the next run is quick.
std::string IndexRoot(const std::string& kb_dir, const std::string& root, Streams& streams) {
  std::error_code error;
  const std::string whole = std::filesystem::weakly_canonical(root, error).string();
  std::string dir = kb_dir + "/eval-" + Sha256(whole).substr(0, 12);
  Progress progress(streams);
  IngestOptions options;
  options.roots = {root};
  options.progress = [&progress](const char* phase, int64_t done, int64_t total) {
    progress.Show(phase, done, total);
  };
  (void)Ingest(dir, options);
  return dir;
}

std::vector<VariantScore> Judge(const std::string& kb_dir, const std::vector<Question>& questions,
                                Streams& streams) {
  Progress progress(streams);
  Retriever retriever(kb_dir);
  std::vector<VariantScore> scores;
  for (const Variant variant : kVariants) {
    progress.Show("judge", static_cast<int64_t>(scores.size()), std::size(kVariants));
    scores.push_back(EvaluateRetrieval(retriever, questions, variant));
  }
  return scores;
}

Value ScoreJson(const VariantScore& score) {
  Value::Map json = {{"variant", score.variant},
                     {"answerable", score.answerable},
                     {"unanswerable", score.unanswerable}};
  for (const Measure& measure : kMeasures) {
    const Estimate& estimate = score.*measure.estimate;
    json.emplace_back(
        measure.name,
        Value(Value::Map{{"mean", estimate.mean}, {"low", estimate.low}, {"high", estimate.high}}));
  }
  json.emplace_back("refusal_auroc", score.refusal_auroc);  // NaN is written as null
  json.emplace_back("refused_rightly", score.refused_rightly);
  json.emplace_back("refused_wrongly", score.refused_wrongly);
  json.emplace_back("p50_ms", score.p50_ms);
  json.emplace_back("p99_ms", score.p99_ms);
  return Value(std::move(json));
}

std::string ScoreTable(const std::vector<VariantScore>& scores) {
  std::vector<Column> columns = {{"measure"}};
  for (const VariantScore& score : scores) columns.push_back({score.variant, true});
  Table table(std::move(columns));
  const auto add = [&](const char* name, auto text) {
    std::vector<std::string> cells = {name};
    for (const VariantScore& score : scores) cells.push_back(text(score));
    table.AddRow(std::move(cells));
  };
  for (const Measure& measure : kMeasures) {
    add(measure.header, [&](const VariantScore& score) {
      const Estimate& e = score.*measure.estimate;
      return Fixed(e.mean, 3) + " [" + Fixed(e.low, 3) + ", " + Fixed(e.high, 3) + "]";
    });
  }
  add("refused rightly", [](const VariantScore& s) {
    return std::to_string(s.refused_rightly) + "/" + std::to_string(s.unanswerable);
  });
  add("refused wrongly", [](const VariantScore& s) {
    return std::to_string(s.refused_wrongly) + "/" + std::to_string(s.answerable);
  });
  add("refusal AUROC", [](const VariantScore& s) { return Fixed(s.refusal_auroc, 3); });
  add("p50 ms", [](const VariantScore& s) { return Fixed(s.p50_ms, 2); });
  add("p99 ms", [](const VariantScore& s) { return Fixed(s.p99_ms, 2); });
  return table.Draw();
}

// Each measure in which `full` is below `lexical`, a line each on `talk`. NaN fails.
bool PassesGate(const VariantScore& full, const VariantScore& lexical, Streams& streams) {
  bool passes = true;
  for (const Measure& measure : kMeasures) {
    const double ours = (full.*measure.estimate).mean, floor = (lexical.*measure.estimate).mean;
    if (!measure.gated || ours >= floor) continue;
    passes = false;
    streams.talk << "kb eval retrieval: the gate failed: " << measure.header << " of full is "
                 << Fixed(ours, 4) << ", below lexical alone, " << Fixed(floor, 4) << '\n';
  }
  return passes;
}

}  // namespace

int RunEvalRetrieval(const Args& args, Streams& streams) {
  if (!args.Has("--queries")) throw Error("needs --queries FILE: JSON lines {id, query, expected}");
  const std::string file = args.Get("--queries");
  std::string why;
  const auto text = ReadFile(file, &why);
  if (!text) throw Error("cannot read the questions in " + file + ": " + why);
  Diagnostics diagnostics;
  const auto questions = Selected(ReadQuestions(*text, file, &diagnostics), args.All("--only"));
  for (const Diagnostic& bad : diagnostics) streams.talk << FormatDiagnostic(bad) << '\n';
  if (questions.empty()) {
    streams.talk << "kb eval retrieval: no questions are left in " << Printable(file) << '\n';
    return kNothing;
  }
  std::string kb_dir = FindKbDir(args);
  if (args.Has("--root")) kb_dir = IndexRoot(kb_dir, args.Get("--root"), streams);
  const std::vector<VariantScore> scores = Judge(kb_dir, questions, streams);
  if (args.Has("--json")) {
    Value::List variants;
    for (const VariantScore& score : scores) variants.push_back(ScoreJson(score));
    const Value json(Value::Map{{"queries", file},
                                {"questions", static_cast<int>(questions.size())},
                                {"diagnostics", DiagnosticsJson(diagnostics)},
                                {"variants", Value(std::move(variants))}});
    streams.out << WriteJson(json, 2) << '\n';
  } else {
    streams.out << ScoreTable(scores);
  }
  return !args.Has("--gate") || PassesGate(scores[0], scores[1], streams) ? kFound : kNothing;
}

}  // namespace kb
