// Attempts written into traces: what lands there must be a trace that lint accepts.
#include "tdd/attempt.h"

#include <gtest/gtest.h>

#include "kb/document.h"
#include "kb/error.h"
#include "kb/json.h"
#include "kb/lint.h"
#include "kb/trace.h"

namespace kb {
namespace {

Value Json(const char* text) { return ParseJson(text).value(); }

Evaluation Passed(double candidate_us, double baseline_us) {
  Evaluation e;
  e.case_identity = Json(R"({"name": "axpy", "sha256": "00"})");
  e.candidate_identity = Json(R"({"id": "float4"})");
  e.environment = Json(R"({"gpu": "Some GPU", "arch": "sm_90", "cuda": "13.0"})");
  e.stages.push_back(
      {"compile",
       {},
       0.1,
       Json(
           R"({"kernels": [{"name": "k", "registers": 32, "shared_bytes": 0, "spill_bytes": 0}]})")});
  e.stages.push_back(
      {"green",
       {},
       0.5,
       Json(R"({"tests": [{"name": "T.A", "passed": true}], "outputs": [{"max_abs": 1e-7}]})")});
  Value row = Json(
      R"({"workload": "67108864", "unit": "us", "cold_l2": true, "ratio": {"median": 1.25, "ci95": [1.24, 1.26]}, "percent_of_roofline": 88.5, "bound": "memory"})");
  row.Set("candidate", Value()
                           .Set("median", candidate_us)
                           .Set("p10", candidate_us)
                           .Set("p90", candidate_us)
                           .Set("samples", Value::List{Value(candidate_us)}));
  row.Set("baseline", Value().Set("median", baseline_us));
  e.stages.push_back({"measure", {}, 1.0, Value(Value::List{row})});
  return e;
}

Case AxpyCase() {
  Case c;
  c.name = "axpy";
  c.title = "y += a x";
  c.baseline = "naive";
  return c;
}

Candidate Float4() {
  Candidate c;
  c.id = "float4";
  c.title = "four elements a load";
  c.source = "kernel.cu";
  c.source_text = "// kernel";
  return c;
}

std::string Started() {
  return NewTrace("axpy-search", AxpyCase(), Passed(200, 250), "2026-11-30");
}

std::string WithAttempt(const std::string& trace, const Evaluation& evaluation,
                        AttemptNote note = {}) {
  if (note.hypothesis.empty())
    note.hypothesis = "16-byte loads: fewer instructions, \"same\" bytes";
  return AppendAttempt(trace, "t.md", Float4(), evaluation, note);
}

Trace Read(const std::string& text) { return ParseTrace(ParseDocument("t.md", text)); }

TEST(AppendAttempt, WritesWhatTheReaderReads) {
  const Trace trace = Read(WithAttempt(Started(), Passed(200, 250)));
  ASSERT_EQ(trace.attempts.size(), 1u);
  const Attempt& attempt = trace.attempts[0];
  EXPECT_EQ(attempt.id, "A1");
  EXPECT_EQ(attempt.hypothesis, "16-byte loads: fewer instructions, \"same\" bytes");
  EXPECT_EQ(attempt.status, "PASSED");
  EXPECT_DOUBLE_EQ(attempt.median_us.value_or(0), 200);
  EXPECT_DOUBLE_EQ(attempt.baseline_us.value_or(0), 250);
  EXPECT_EQ(attempt.decision, "keep");
  EXPECT_EQ(trace.best, "A1");
}

TEST(AppendAttempt, ASlowerOneIsParkedAndTheBestStays) {
  const std::string text = WithAttempt(WithAttempt(Started(), Passed(200, 250)), Passed(220, 250));
  const Trace trace = Read(text);
  ASSERT_EQ(trace.attempts.size(), 2u);
  EXPECT_EQ(trace.attempts[1].parent, "A1");
  EXPECT_EQ(trace.attempts[1].decision, "park");
  EXPECT_EQ(trace.best, "A1");
}

TEST(AppendAttempt, AFailureHasNoTimeAndSaysWhy) {
  Evaluation wrong = Passed(100, 250);
  wrong.verdict = {Status::kIncorrectNumerical, "", "T.A: y[7] is 1, should be 2"};
  const std::string text = WithAttempt(Started(), wrong);
  const Trace trace = Read(text);
  ASSERT_EQ(trace.attempts.size(), 1u);
  EXPECT_FALSE(trace.attempts[0].median_us);
  EXPECT_EQ(trace.attempts[0].decision, "revert");
  EXPECT_NE(text.find("y[7] is 1"), std::string::npos);
  EXPECT_EQ(trace.best, "");
}

TEST(AppendAttempt, WhatItWritesLintsWithoutErrors) {
  AttemptNote note;
  note.hypothesis = "four loads in flight";
  note.diff = "--- before\n+++ after\n@@ -1 +1 @@\n-a\n+```b\n";
  const std::string text =
      WithAttempt(WithAttempt(Started(), Passed(200, 250)), Passed(150, 250), note);
  const Document document = ParseDocument("traces/2026/axpy-search.md", text);
  for (const Diagnostic& d : Lint(document)) {
    EXPECT_LT(d.severity, Severity::kError) << FormatDiagnostic(d);
  }
}

TEST(AppendAttempt, ATraceOfAnotherCaseIsRefused) {
  Evaluation other = Passed(1, 2);
  other.case_identity = Json(R"({"name": "softmax"})");
  EXPECT_THROW(static_cast<void>(WithAttempt(Started(), other)), Error);
  EXPECT_THROW(static_cast<void>(AppendAttempt("# no trace\n", "t.md", Float4(), other, {})),
               Error);
}

}  // namespace
}  // namespace kb
