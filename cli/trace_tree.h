// A trace's attempts in the order of their tree, and how it looks in JSON.
#pragma once

#include <vector>

#include "kb/catalog.h"
#include "kb/trace.h"
#include "kb/value.h"

namespace kb {

struct AttemptNode {
  size_t attempt = 0;  // index into Trace::attempts
  int depth = 0;       // 0: a root
};

// Every attempt once: parents before children, siblings as in the file. One whose parent is
// unknown is a root, and so is the first of a cycle.
[[nodiscard]] std::vector<AttemptNode> AttemptTree(const Trace& trace);

// {document: DocumentJson, structured, best, attempts: [ATTEMPT...], lessons: [LESSON...]}
//   ATTEMPT: {id, parent, depth, hypothesis, decision, status, median_us, baseline_us, speedup,
//             why, derived, line}; numbers are null if not stated
//   LESSON: {id, claim, evidence, counter_evidence, confidence, falsifier, nnk, line}
[[nodiscard]] Value::Map TraceJson(const CatalogDocument& document, const Trace& trace);

}  // namespace kb
