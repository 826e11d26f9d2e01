// kb trace show. With --json what TraceJson says.
#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>

#include "cli/found_json.h"
#include "cli/run_commands.h"
#include "cli/trace_tree.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

std::string Facts(const Attempt& attempt) {
  std::string facts;
  for (const std::string& fact : {attempt.status, attempt.decision}) {
    if (!fact.empty()) facts += (facts.empty() ? "" : ", ") + fact;
  }
  char number[48];
  if (attempt.median_us) {
    std::snprintf(number, sizeof(number), "%s%.6g us", facts.empty() ? "" : ", ",
                  *attempt.median_us);
    facts += number;
  }
  return facts.empty() ? "" : " [" + facts + "]";
}

void PrintTree(const Trace& trace, Streams& streams) {
  constexpr int kMostIndent = 40;
  for (const AttemptNode& node : AttemptTree(trace)) {
    const Attempt& attempt = trace.attempts[node.attempt];
    streams.out << std::string(static_cast<size_t>(std::min(2 * node.depth, kMostIndent)), ' ')
                << Printable(attempt.id) << Printable(Facts(attempt));
    if (!attempt.hypothesis.empty()) streams.out << "  " << Printable(attempt.hypothesis);
    streams.out << '\n';
  }
  for (const Lesson& lesson : trace.lessons) {
    streams.out << "lesson " << Printable(lesson.id) << "  " << Printable(lesson.claim) << '\n';
  }
}

}  // namespace

int RunTraceShow(const Args& args, Streams& streams) {
  const std::string name = args.Get("TRACE");
  const std::string kb_dir = FindKbDir(args);
  Catalog catalog(kb_dir, Catalog::Mode::kRead);
  catalog.BeginRead();
  const Found found = FindNamed(catalog, kb_dir, name);
  if (!found.document || found.document->kind != Kind::kTrace) {
    streams.talk << "kb trace show: "
                 << (found.document ? Printable(name) + " is no trace; kb get prints it"
                                    : found.why_not)
                 << '\n';
    return kNothing;
  }
  const Trace trace = ParseTrace(ParseDocument(found.document->path, found.text));
  if (args.Has("--json")) {
    streams.out << WriteJson(Value(TraceJson(*found.document, trace)), 2) << '\n';
  } else {
    PrintTree(trace, streams);
  }
  return kFound;
}

}  // namespace kb
