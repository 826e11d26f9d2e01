#include "cli/answer_json.h"

#include <utility>

#include "cli/document_json.h"

namespace kb {
namespace {

Value FeaturesJson(const std::vector<Feature>& features) {
  Value::List list;
  for (const Feature& feature : features) {
    list.push_back(Value(Value::Map{{"name", feature.name},
                                    {"value", feature.value},
                                    {"weight", feature.weight},
                                    {"contribution", feature.value * feature.weight}}));
  }
  return Value(std::move(list));
}

Value HitJson(Retriever& retriever, const Hit& hit, int rank, const std::string& query) {
  const auto snippet = SnippetOf(retriever, hit, query, kSnippetCells);
  return Value(Value::Map{{"rank", rank},
                          {"score", hit.score},
                          {"bundle_id", hit.bundle_id},
                          {"chunk", hit.chunk.id},
                          {"ordinal", hit.chunk_ordinal},
                          {"heading", hit.chunk.heading},
                          {"lines", Value(Value::List{hit.chunk.first_line, hit.chunk.last_line})},
                          {"snippet", SnippetText(snippet, false)},
                          {"document", Value(DocumentJson(hit.document))},
                          {"features", FeaturesJson(hit.features)}});
}

}  // namespace

std::vector<SnippetWord> SnippetOf(Retriever& retriever, const Hit& hit, const std::string& query,
                                   int cells) {
  auto snippet = MakeSnippet(retriever.PassageText(hit), query, cells);
  return snippet.empty() ? MakeSnippet(hit.document.description, query, cells) : snippet;
}

Value AnswerJson(Retriever& retriever, const Answer& answer, const Query& query,
                 const std::string& variant) {
  Value::List hits;
  for (const Hit& hit : answer.hits) {
    hits.push_back(HitJson(retriever, hit, static_cast<int>(hits.size()) + 1, query.text));
  }
  Value miss;
  if (answer.nearest_miss) miss = HitJson(retriever, *answer.nearest_miss, 1, query.text);
  return Value(Value::Map{{"query", query.text},
                          {"variant", variant},
                          {"generation", retriever.generation()},
                          {"nothing_applies", answer.hits.empty()},
                          {"confidence", answer.confidence},
                          {"threshold", answer.threshold},
                          {"why", answer.why},
                          {"hits", Value(std::move(hits))},
                          {"nearest_miss", std::move(miss)}});
}

}  // namespace kb
