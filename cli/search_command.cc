// kb search. With --json one value, a stable schema:
//   {query, variant, generation, nothing_applies, confidence, threshold, why,
//    hits: [HIT...], nearest_miss: HIT or null}
//   HIT: {rank, score, bundle_id, chunk, ordinal, heading, lines: [first, last], snippet,
//         document: DocumentJson, features: [{name, value, weight, contribution}...]}
// `document` holds sha256, path, trust, license, scope; `get` takes "ID#CHUNK".
#include <cstdio>
#include <ostream>
#include <string>

#include "cli/document_json.h"
#include "cli/filters.h"
#include "cli/run_commands.h"
#include "cli/snippet.h"
#include "cli/table.h"
#include "indexer/retriever.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr int kIndent = 5;
constexpr int kSnippetCells = 160;  // when no terminal says less

Variant VariantOf(const std::string& name) {
  if (name == "lexical") return Variant::kLexical;
  return name == "dense" ? Variant::kDense : Variant::kFull;
}

std::string Fixed(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4f", number);
  return text;
}

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
  const std::string text = retriever.PassageText(hit);
  return Value(Value::Map{{"rank", rank},
                          {"score", hit.score},
                          {"bundle_id", hit.bundle_id},
                          {"chunk", hit.chunk.id},
                          {"ordinal", hit.chunk_ordinal},
                          {"heading", hit.chunk.heading},
                          {"lines", Value(Value::List{hit.chunk.first_line, hit.chunk.last_line})},
                          {"snippet", SnippetText(MakeSnippet(text, query, kSnippetCells), false)},
                          {"document", Value(DocumentJson(hit.document))},
                          {"features", FeaturesJson(hit.features)}});
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

std::string KindAndState(const CatalogDocument& document) {
  std::string text = KindName(document.kind);
  return document.state.empty() ? text : text + "/" + document.state;
}

std::string Citation(const Hit& hit) { return hit.document.id + "#" + hit.chunk.id; }

void AddExplanation(const Hit& hit, Table* table) {
  const std::string indent(kIndent, ' ');
  table->AddLine(indent + "score " + Fixed(hit.score));
  for (const Feature& feature : hit.features) {
    std::string name = feature.name;
    name.resize(std::max<size_t>(name.size(), 16), ' ');
    table->AddLine(indent + "  " + name + " " + Fixed(feature.value) + " x " +
                   Fixed(feature.weight) + " = " + Fixed(feature.value * feature.weight));
  }
}

std::string AnswerTable(Retriever& retriever, const Answer& answer, const Query& query,
                        bool explain, const Streams& streams) {
  const int columns = streams.out_is_terminal ? streams.columns : 0;
  const int cells = columns > 0 ? columns - kIndent : kSnippetCells;
  Table table({{"", true}, {""}, {""}, {"", false, true}});
  int rank = 0;
  for (const Hit& hit : answer.hits) {
    const std::string& heading = hit.chunk.heading;
    table.AddRow({std::to_string(++rank), Citation(hit), KindAndState(hit.document),
                  heading.empty() ? hit.document.title : heading});
    const auto snippet = MakeSnippet(retriever.PassageText(hit), query.text, cells);
    table.AddLine(std::string(kIndent, ' ') + SnippetText(snippet, streams.color));
    if (explain) AddExplanation(hit, &table);
  }
  return table.Draw(columns);
}

void SayNothingApplies(const Answer& answer, Streams& streams) {
  streams.talk << "kb search: nothing applies"
               << (answer.why.empty() ? "" : ": " + Printable(answer.why)) << '\n';
  if (!answer.nearest_miss) return;
  const Hit& miss = *answer.nearest_miss;
  streams.talk << "nearest miss: " << Printable(Citation(miss)) << " ("
               << KindAndState(miss.document) << ") " << Printable(miss.chunk.heading) << '\n';
}

}  // namespace

int RunSearch(const Args& args, Streams& streams) {
  const std::string variant = args.Get("--variant", "full");
  const Query query = {JoinedWords(args, "QUERY"), FiltersOf(args), args.GetInt("-k", 10),
                       VariantOf(variant)};
  Retriever retriever(FindKbDir(args));
  const Answer answer = retriever.Search(query);
  if (args.Has("--json")) {
    streams.out << WriteJson(AnswerJson(retriever, answer, query, variant), 2) << '\n';
  } else if (answer.hits.empty()) {
    SayNothingApplies(answer, streams);
  } else {
    streams.out << AnswerTable(retriever, answer, query, args.Has("--explain"), streams);
  }
  return answer.hits.empty() ? kNothing : kFound;
}

}  // namespace kb
