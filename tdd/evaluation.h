// The record of one candidate on one case in one environment: a header and a section a stage.
// Evidence: written by kb alone, append-only, named by its content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kb/value.h"
#include "tdd/status.h"

namespace kb {

struct StageReport {
  std::string name;  // "check", "red", "green", "sanitize", "measure", "plausible", "news"
  Verdict verdict;
  double seconds = 0;
  Value detail;  // the section of this stage in the JSON
};

struct Evaluation {
  Verdict verdict;           // the first stage's that did not pass; else PASSED
  std::string stage;         // the name of that stage, or ""
  Value case_identity;       // {name, sha256}
  Value candidate_identity;  // {id, kind, sha256, files, flags}
  Value environment;
  std::string created;  // UTC, "2026-11-30T12:00:00Z"
  std::vector<StageReport> stages;
  [[nodiscard]] const StageReport* Find(std::string_view name) const;
};

// {"kb": "evaluation/1", "status", "kind", "stage", "message", "created", "case", "candidate",
//  "environment", "stages": [{name, status, seconds, message}], then a member for each stage with
//  its detail: "green", "red", "measure", ...}.
[[nodiscard]] Value ToValue(const Evaluation& evaluation);
// nullopt and why, if this is no evaluation/1.
[[nodiscard]] std::optional<Evaluation> EvaluationFromValue(const Value& value, std::string* why);

// sha256 of the JSON without "created": the name of its file.
[[nodiscard]] std::string EvaluationId(const Evaluation& evaluation);

}  // namespace kb
