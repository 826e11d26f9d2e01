#include "cli/mcp_answers.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "cli/advise.h"
#include "cli/answer_json.h"
#include "cli/filters.h"
#include "cli/found_json.h"
#include "cli/index_status.h"
#include "cli/mcp_text.h"
#include "cli/trace_tree.h"
#include "indexer/context.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr int kMostHits = 50;  // more would never fit a result
constexpr int kMostBudget = 4000;
constexpr int kMostKernels = 20;
constexpr size_t kMostPassages = 40;
constexpr size_t kMostListed = 10;  // of each list of kb_status

Value LinesJson(const Chunk& chunk) {
  return Value(Value::List{chunk.first_line, chunk.last_line});
}

Value HitJson(Retriever& retriever, const Hit& hit, int rank, const std::string& question) {
  const auto snippet = SnippetOf(retriever, hit, question, kSnippetCells);
  return Value(Value::Map{{"rank", rank},
                          {"score", hit.score},
                          {"fetch", EscapeDelimiters(hit.document.id + "#" + hit.chunk.id)},
                          {"bundle_id", EscapeDelimiters(hit.bundle_id)},
                          {"heading", EscapeDelimiters(CutText(hit.chunk.heading, 400))},
                          {"lines", LinesJson(hit.chunk)},
                          {"snippet", EscapeDelimiters(CutText(SnippetText(snippet, false), 800))},
                          {"document", MarkedDocument(hit.document)}});
}

size_t RoomBeside(const Value::Map& result) {
  const size_t size = WriteJson(Value(result)).size() + 64;
  return size < kMaxResultBytes ? kMaxResultBytes - size : 0;
}

// The document or passage that was asked for, if agents may read it.
std::variant<Found, std::string> Readable(McpCall& call, const std::string& name) {
  Found found = FindNamed(call.index.Open().catalog(), call.index.kb_dir(), name);
  if (!found.why_not.empty()) return found.why_not;
  if (found.document->blocked) {
    return "'" + name + "' breaks a safety rule and is not shown; kb lint says which";
  }
  return found;
}

// The name of the first passage that `shown` bytes of the document do not show whole.
std::string NextPassage(const Found& found, size_t shown) {
  for (const Chunk& chunk : found.chunks) {
    const bool is_after =
        found.chunk ? chunk.begin >= found.chunk->end : chunk.end > static_cast<int64_t>(shown);
    if (is_after) return found.document->id + "#" + chunk.id;
  }
  return "";
}

Value::List Passages(const Found& found) {
  Value::List list;
  if (found.chunk) return list;
  for (const Chunk& chunk : found.chunks) {
    if (list.size() == kMostPassages) break;
    list.push_back(
        Value(Value::Map{{"fetch", EscapeDelimiters(found.document->id + "#" + chunk.id)},
                         {"heading", EscapeDelimiters(CutText(chunk.heading, 120))},
                         {"lines", LinesJson(chunk)}}));
  }
  return list;
}

// Fills "text" with as much as there is room for in JSON, where a byte may take six.
void FitText(const Found& found, Value::Map* result) {
  const size_t room = RoomBeside(*result);
  std::string text = CutText(found.text, room);
  while (WriteJson(Value(EscapeDelimiters(text))).size() > room && !text.empty()) {
    text = CutText(text, text.size() * 3 / 4);
  }
  const bool is_cut = text.size() < found.text.size();
  result->emplace_back("truncated", is_cut);
  const bool has_next = is_cut || found.chunk.has_value();
  result->emplace_back(
      "next", has_next ? EscapeDelimiters(NextPassage(found, text.size())) : std::string());
  result->emplace_back("text", EscapeDelimiters(text));
}

// The first few of each list, however deep; how many there were is said beside it.
Value ShortLists(const Value& value) {
  if (!value.IsMap()) return value;
  Value::Map map;
  for (const auto& [key, item] : value.AsMap()) {
    if (!item.IsList()) {
      map.emplace_back(key, ShortLists(item));
      continue;
    }
    const Value::List& all = item.AsList();
    const size_t count = std::min(all.size(), kMostListed);
    Value::List some;
    for (size_t i = 0; i < count; ++i) some.push_back(all[i]);
    map.emplace_back(key, Value(std::move(some)));
    map.emplace_back(key + "_count", static_cast<int64_t>(all.size()));
  }
  return Value(std::move(map));
}

}  // namespace

ToolAnswer AnswerSearch(McpCall& call, const Args& args) {
  Query query;
  query.text = JoinedWords(args, "QUERY");
  query.filters = FiltersOf(args);
  query.k = std::min(args.GetInt("-k", query.k), kMostHits);
  Retriever& retriever = call.index.Open();
  if (!call.step(1, 3, "index open")) return Value::Map();
  const Answer answer = retriever.Search(query);
  if (!call.step(2, 3, "searched")) return Value::Map();
  Value::Map result = {{"query", CutText(query.text, 400)},
                       {"generation", retriever.generation()},
                       {"nothing_applies", answer.hits.empty()},
                       {"confidence", answer.confidence},
                       {"threshold", answer.threshold},
                       {"why", EscapeDelimiters(BoundedLine(answer.why))},
                       {"notice", kNotice}};
  if (answer.nearest_miss) {
    result.emplace_back("nearest_miss", HitJson(retriever, *answer.nearest_miss, 1, query.text));
  }
  Value::List hits;
  for (const Hit& hit : answer.hits) {
    hits.push_back(HitJson(retriever, hit, static_cast<int>(hits.size()) + 1, query.text));
  }
  size_t room = RoomBeside(result);
  Fitted fitted = FitItems(std::move(hits), &room);
  result.emplace_back("left_out", fitted.left_out);
  result.emplace_back("hits", Value(std::move(fitted.items)));
  return result;
}

ToolAnswer AnswerGet(McpCall& call, const Args& args) {
  auto readable = Readable(call, args.Get("DOCUMENT"));
  if (auto* why = std::get_if<std::string>(&readable)) return std::move(*why);
  const Found& found = std::get<Found>(readable);
  if (!call.step(1, 2, "read")) return Value::Map();
  const int last = found.chunks.empty() ? 1 : found.chunks.back().last_line;
  Value::Map result = {
      {"document", MarkedDocument(*found.document)},
      {"chunk", found.chunk ? found.chunk->id : ""},
      {"heading", found.chunk ? EscapeDelimiters(CutText(found.chunk->heading, 400)) : ""},
      {"lines", found.chunk ? LinesJson(*found.chunk) : Value(Value::List{1, last})},
      {"notice", kNotice}};
  size_t room = 4000;
  result.emplace_back("passages", Value(FitItems(Passages(found), &room).items));
  FitText(found, &result);
  return result;
}

ToolAnswer AnswerContext(McpCall& call, const Args& args) {
  Query query;
  query.text = JoinedWords(args, "TASK");
  query.filters = FiltersOf(args);
  ContextOptions options;
  options.budget_tokens = std::min(args.GetInt("--budget", options.budget_tokens), kMostBudget);
  options.max_items = args.GetInt("--items", options.max_items);
  Retriever& retriever = call.index.Open();
  if (!call.step(1, 3, "index open")) return Value::Map();
  Context context = WriteContext(retriever, query, options);
  while (WriteJson(Value(context.text)).size() > kMaxResultBytes - 6000) {
    options.budget_tokens = options.budget_tokens * 3 / 4;
    context = WriteContext(retriever, query, options);
  }
  if (!call.step(2, 3, "context written")) return Value::Map();
  if (context.text.empty()) {
    return "\"budget\" " + std::to_string(options.budget_tokens) +
           " is too small for an answer; give it at least 100 tokens";
  }
  return Value::Map{{"nothing_applies", context.nothing_applies},
                    {"items", context.items},
                    {"left_out", context.left_out},
                    {"tokens", context.tokens},
                    {"budget_tokens", options.budget_tokens},
                    {"generation", retriever.generation()},
                    {"notice", kNotice},
                    {"context", context.text}};
}

ToolAnswer AnswerTrace(McpCall& call, const Args& args) {
  auto readable = Readable(call, args.Get("TRACE"));
  if (auto* why = std::get_if<std::string>(&readable)) return std::move(*why);
  const CatalogDocument& document = *std::get<Found>(readable).document;
  if (document.kind != Kind::kTrace) {
    return "'" + document.id + "' is a " + KindName(document.kind) + ", no trace; use kb_get";
  }
  const std::string text = call.index.Open().catalog().Text(document.row);
  const Trace trace = ParseTrace(ParseDocument(document.path, text));
  if (!call.step(1, 2, "read")) return Value::Map();
  Value json = Escaped(Value(TraceJson(document, trace)));
  Value::Map result = {{"document", MarkedDocument(document)},
                       {"structured", trace.structured},
                       {"best", EscapeDelimiters(CutText(trace.best, 400))},
                       {"notice", kNotice}};
  size_t room = RoomBeside(result);
  size_t lesson_room = room / 3;
  Fitted lessons = FitItems(json["lessons"].AsList(), &lesson_room);
  room = room - room / 3 + lesson_room;
  Fitted attempts = FitItems(json["attempts"].AsList(), &room);
  result.emplace_back("attempts", Value(std::move(attempts.items)));
  result.emplace_back("attempts_left_out", attempts.left_out);
  result.emplace_back("lessons", Value(std::move(lessons.items)));
  result.emplace_back("lessons_left_out", lessons.left_out);
  return result;
}

ToolAnswer AnswerAdvise(McpCall& call, const Args& args) {
  const auto most = static_cast<size_t>(std::min(args.GetInt("--longest", 4), kMostKernels));
  const Value advice = AdviseJson(args.Get("--ncu"), call.index.kb_dir(), most);
  if (!call.step(1, 2, "advised")) return Value::Map();
  Value::Map result = {{"page", advice["page"]},
                       {"other_lines", advice["other_lines"]},
                       {"index", advice["index"]},
                       {"notice", kNotice}};
  Value::List kernels;
  for (const Value& kernel : advice["kernels"].AsList()) {
    kernels.push_back(Escaped(Shortened(kernel)));
  }
  size_t room = RoomBeside(result);
  Fitted fitted = FitItems(std::move(kernels), &room);
  result.emplace_back("kernels", Value(std::move(fitted.items)));
  result.emplace_back("left_out", advice["left_out"].AsInt() + fitted.left_out);
  return result;
}

ToolAnswer AnswerStatus(McpCall& call, const Args&) {
  std::error_code error;
  Value::Map result = {{"version", kVersion}, {"notice", kNotice}};
  if (!std::filesystem::is_directory(call.index.kb_dir(), error)) {
    result.emplace_back("indexed", false);
    result.emplace_back("why", "nothing is indexed in " + BoundedLine(call.index.kb_dir(), 400) +
                                   "; index something: kb index FOLDER");
    return result;
  }
  const IndexStatus status = ReadStatus(call.index.kb_dir());
  if (!call.step(1, 2, "read")) return Value::Map();
  result.emplace_back("indexed", true);
  result.emplace_back("fresh", !status.IsStale());
  const Value json = Escaped(ShortLists(StatusJson(status)));
  size_t room = RoomBeside(result);
  for (const auto& [key, value] : json.AsMap()) {
    const size_t size = WriteJson(value).size() + key.size() + 4;
    if (size > room) continue;
    room -= size;
    result.emplace_back(key, value);
  }
  return result;
}

}  // namespace kb
