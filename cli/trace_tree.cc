#include "cli/trace_tree.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/document_json.h"

namespace kb {
namespace {

using Children = std::map<size_t, std::vector<size_t>>;

// Depth first without recursion: a chain may be as long as a trace.
void Walk(size_t root, const Children& children, std::vector<bool>* seen,
          std::vector<AttemptNode>* nodes) {
  std::vector<AttemptNode> open = {{root, 0}};
  while (!open.empty()) {
    const AttemptNode node = open.back();
    open.pop_back();
    if ((*seen)[node.attempt]) continue;
    (*seen)[node.attempt] = true;
    nodes->push_back(node);
    const auto below = children.find(node.attempt);
    if (below == children.end()) continue;
    const std::vector<size_t>& list = below->second;
    for (auto child = list.rbegin(); child != list.rend(); ++child) {
      open.push_back({*child, node.depth + 1});
    }
  }
}

Value Number(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

Value TextList(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

Value AttemptJson(const Attempt& attempt, int depth) {
  return Value(Value::Map{{"id", attempt.id},
                          {"parent", attempt.parent},
                          {"depth", depth},
                          {"hypothesis", attempt.hypothesis},
                          {"decision", attempt.decision},
                          {"status", attempt.status},
                          {"median_us", Number(attempt.median_us)},
                          {"baseline_us", Number(attempt.baseline_us)},
                          {"speedup", Number(attempt.speedup)},
                          {"why", attempt.why},
                          {"derived", attempt.derived},
                          {"line", attempt.line}});
}

Value LessonJson(const Lesson& lesson) {
  return Value(Value::Map{{"id", lesson.id},
                          {"claim", lesson.claim},
                          {"evidence", TextList(lesson.evidence)},
                          {"counter_evidence", TextList(lesson.counter_evidence)},
                          {"confidence", lesson.confidence},
                          {"falsifier", lesson.falsifier},
                          {"nnk", lesson.nnk},
                          {"line", lesson.line}});
}

}  // namespace

std::vector<AttemptNode> AttemptTree(const Trace& trace) {
  std::map<std::string_view, size_t> by_id;
  for (size_t i = 0; i < trace.attempts.size(); ++i) by_id.emplace(trace.attempts[i].id, i);
  Children children;
  std::vector<size_t> roots;
  for (size_t i = 0; i < trace.attempts.size(); ++i) {
    const auto parent = by_id.find(trace.attempts[i].parent);
    const bool is_root = parent == by_id.end() || trace.attempts[i].parent.empty();
    (is_root ? roots : children[parent->second]).push_back(i);
  }
  std::vector<bool> seen(trace.attempts.size());
  std::vector<AttemptNode> nodes;
  for (const size_t root : roots) Walk(root, children, &seen, &nodes);
  for (size_t i = 0; i < seen.size(); ++i) Walk(i, children, &seen, &nodes);  // cycles
  return nodes;
}

Value::Map TraceJson(const CatalogDocument& document, const Trace& trace) {
  Value::List attempts, lessons;
  for (const AttemptNode& node : AttemptTree(trace)) {
    attempts.push_back(AttemptJson(trace.attempts[node.attempt], node.depth));
  }
  for (const Lesson& lesson : trace.lessons) lessons.push_back(LessonJson(lesson));
  return {{"document", Value(DocumentJson(document))},
          {"structured", trace.structured},
          {"best", trace.best},
          {"attempts", Value(std::move(attempts))},
          {"lessons", Value(std::move(lessons))}};
}

}  // namespace kb
