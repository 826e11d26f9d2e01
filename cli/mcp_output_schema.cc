#include "cli/mcp_output_schema.h"

#include <utility>

namespace kb {
namespace {

Value Type(const char* type) { return Value(Value::Map{{"type", type}}); }

Value Maybe(const char* type) {
  return Value(Value::Map{{"anyOf", Value(Value::List{Type(type), Type("null")})}});
}

Value Text() { return Type("string"); }
Value Flag() { return Type("boolean"); }
Value Number() { return Type("number"); }
Value Count() { return Value(Value::Map{{"type", "integer"}, {"minimum", 0}}); }

Value ListOf(Value item) {
  return Value(Value::Map{{"type", "array"}, {"items", std::move(item)}});
}

// All of `required` are always there, `optional` perhaps, nothing else ever.
Value Object(Value::Map required, Value::Map optional = {}) {
  Value::List names;
  for (const auto& [name, schema] : required) names.emplace_back(name);
  for (auto& property : optional) required.push_back(std::move(property));
  return Value(Value::Map{{"type", "object"},
                          {"properties", Value(std::move(required))},
                          {"required", Value(std::move(names))},
                          {"additionalProperties", false}});
}

Value Described(Value schema, const char* description) {
  schema.Set("description", description);
  return schema;
}

Value Lines() { return Described(ListOf(Count()), "first and last line of the file, from 1"); }

Value Scope() {
  return Object({{"arch", Text()},
                 {"cuda", Text()},
                 {"dtypes", ListOf(Text())},
                 {"bound", Text()},
                 {"topics", ListOf(Text())}});
}

Value Document() {
  return Object({{"id", Text()},
                 {"kind", Text()},
                 {"title", Text()},
                 {"description", Text()},
                 {"path", Text()},
                 {"bundle", Text()},
                 {"sha256", Text()},
                 {"license", Text()},
                 {"state", Text()},
                 {"trust", Described(Text(),
                                     "proved, replicated, stale, refuted, unproved, "
                                     "curated, recorded or reference")},
                 {"scope", Scope()}});
}

Value Fetch() { return Described(Text(), "what kb_get takes"); }

Value Hit() {
  return Object({{"rank", Count()},
                 {"score", Number()},
                 {"fetch", Fetch()},
                 {"bundle_id", Text()},
                 {"heading", Text()},
                 {"lines", Lines()},
                 {"snippet", Text()},
                 {"document", Document()}});
}

Value Attempt() {
  return Object({{"id", Text()},
                 {"parent", Text()},
                 {"depth", Count()},
                 {"hypothesis", Text()},
                 {"decision", Text()},
                 {"status", Text()},
                 {"median_us", Maybe("number")},
                 {"baseline_us", Maybe("number")},
                 {"speedup", Maybe("number")},
                 {"why", Text()},
                 {"derived", Described(Flag(), "guessed from prose, not stated")},
                 {"line", Count()}});
}

Value Lesson() {
  return Object({{"id", Text()},
                 {"claim", Text()},
                 {"evidence", ListOf(Text())},
                 {"counter_evidence", ListOf(Text())},
                 {"confidence", Text()},
                 {"falsifier", Text()},
                 {"nnk", Text()},
                 {"line", Count()}});
}

Value AdviceFinding() {
  return Object({{"rule", Text()},
                 {"bound", Text()},
                 {"says", Text()},
                 {"advice", Text()},
                 {"evidence", ListOf(Object({{"metric", Text()},
                                             {"value", Number()},
                                             {"unit", Text()},
                                             {"op", Text()},
                                             {"threshold", Number()}}))},
                 {"source", Text()},
                 {"skills", ListOf(Text())},
                 {"query", Described(Text(), "what kb_search takes")}});
}

Value AdvisedKernel() {
  const Value unknown = Object({{"bound", Text()}, {"missing", ListOf(Text())}});
  const Value skill = Object({{"id", Text()}, {"found", Flag()}, {"command", Maybe("string")}});
  const Value entry = Object({{"id", Text()},
                              {"kind", Text()},
                              {"state", Text()},
                              {"title", Text()},
                              {"command", Text()}});
  const Value finding(Value::Map{{"anyOf", Value(Value::List{AdviceFinding(), Type("null")})}});
  return Object({{"id", Text()},
                 {"name", Text()},
                 {"block", Text()},
                 {"grid", Text()},
                 {"compute_capability", Text()},
                 {"duration_s", Maybe("number")},
                 {"bound", Described(Maybe("string"), "null: the report does not tell")},
                 {"finding", finding},
                 {"also", ListOf(AdviceFinding())},
                 {"unknown", ListOf(unknown)},
                 {"skills", ListOf(skill)},
                 {"entries", ListOf(entry)}});
}

Value Diagnostic() {
  return Object({{"severity", Text()},
                 {"rule", Text()},
                 {"path", Text()},
                 {"line", Count()},
                 {"message", Text()},
                 {"mend", Text()}});
}

Value Stale() {
  return Object({{"changed", ListOf(Text())},
                 {"changed_count", Count()},
                 {"added", ListOf(Text())},
                 {"added_count", Count()},
                 {"removed", ListOf(Text())},
                 {"removed_count", Count()},
                 {"entries", ListOf(Object({{"id", Text()}, {"state", Text()}}))},
                 {"entries_count", Count()}});
}

}  // namespace

Value SearchOutputSchema() {
  return Object({{"query", Text()},
                 {"generation", Count()},
                 {"nothing_applies", Described(Flag(), "no hits; `why` says why")},
                 {"confidence", Number()},
                 {"threshold", Described(Number(), "below it nothing applies")},
                 {"why", Text()},
                 {"notice", Text()},
                 {"left_out", Described(Count(), "hits that had no room")},
                 {"hits", ListOf(Hit())}},
                {{"nearest_miss", Hit()}});
}

Value GetOutputSchema() {
  return Object(
      {{"document", Document()},
       {"chunk", Text()},
       {"heading", Text()},
       {"lines", Lines()},
       {"notice", Text()},
       {"passages", ListOf(Object({{"fetch", Fetch()}, {"heading", Text()}, {"lines", Lines()}}))},
       {"truncated", Flag()},
       {"next", Described(Text(), "the passage that follows, or empty: call kb_get with it")},
       {"text", Text()}});
}

Value ContextOutputSchema() {
  return Object({{"nothing_applies", Flag()},
                 {"items", Count()},
                 {"left_out", Count()},
                 {"tokens", Count()},
                 {"budget_tokens", Described(Count(), "the budget that was kept")},
                 {"generation", Count()},
                 {"notice", Text()},
                 {"context", Described(Text(), "Markdown in <kb-item> tags")}});
}

Value TraceOutputSchema() {
  return Object({{"document", Document()},
                 {"structured", Flag()},
                 {"best", Text()},
                 {"notice", Text()},
                 {"attempts", Described(ListOf(Attempt()), "parents before children")},
                 {"attempts_left_out", Count()},
                 {"lessons", ListOf(Lesson())},
                 {"lessons_left_out", Count()}});
}

Value AdviseOutputSchema() {
  return Object({{"page", Text()},
                 {"other_lines", Count()},
                 {"index", Described(Flag(), "false: nothing is indexed, skills are only named")},
                 {"notice", Text()},
                 {"kernels", Described(ListOf(AdvisedKernel()), "those of longest duration")},
                 {"left_out", Count()}});
}

Value StatusOutputSchema() {
  return Object(
      {{"version", Text()}, {"notice", Text()}, {"indexed", Flag()}},
      {{"why", Text()},
       {"fresh", Described(Flag(), "files are as they were indexed, none is stale")},
       {"kb_dir", Text()},
       {"generation", Count()},
       {"indexed_at", Maybe("integer")},
       {"age_s", Maybe("integer")},
       {"embedder", Text()},
       {"roots", ListOf(Text())},
       {"roots_count", Count()},
       {"size_bytes", Count()},
       {"documents",
        Object({{"skill", Count()}, {"trace", Count()}, {"nnk", Count()}, {"page", Count()}})},
       {"chunks", Count()},
       {"blocked", ListOf(Diagnostic())},
       {"blocked_count", Count()},
       {"stale", Stale()}});
}

}  // namespace kb
