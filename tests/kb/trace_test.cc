#include "kb/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/journal_line.h"

namespace kb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Trace Parse(const std::string& text) { return ParseTrace(ParseDocument("traces/2026/t.md", text)); }

std::vector<std::string> Rules(const Trace& trace) {
  std::vector<std::string> rules;
  for (const Diagnostic& d : trace.diagnostics) rules.push_back(d.rule);
  return rules;
}

// As people write them: a comment before the front matter, flow style, text after headings.
constexpr const char* kStructured = R"(<!-- numbers are invented -->
---
kb: trace/1
id: tr-1
title: "RMSNorm: 41.2 us -> 12.9 us"   # quoted
hardware: {gpu: "NVIDIA H200", cc: "9.0"}
result: {status: PASSED, best: A2}
---
# Goal            (prose)

## Attempt A1: naive
```yaml kb:attempt
id: A1
parent: null
hypothesis: "memory bound"
change: {kind: new, sha256: {k1.cu: "…"}}
tests: {status: PASSED, tol: {atol: 1e-3}}
time: {unit: us, median: 33.0, baseline: 41.2, speedup: 1.25, ci95: [1.23, 1.27]}
profile: {metrics: {dram__throughput.avg.pct_of_peak_sustained_elapsed: 41.7}}
decision: keep        # keep | revert
why: "widen loads next"
```
```diff
(diff)
```

1. In a list:

   ```yaml kb:attempt
   id: A2
   parent: A1
   tests: {status: FAILED}
   time: {unit: ms, median: 0.0129}
   ```

## Lessons
```yaml kb:lesson
id: L1
claim: "wide loads"
evidence: [A1, A2]
counter_evidence: A3, A4
confidence: measured      # measured | replicated
falsifier: "bench"
nnk: null
```
)";

TEST(ParseTrace, ReadsAttemptsAndLessons) {
  const Trace trace = Parse(kStructured);
  EXPECT_TRUE(trace.structured);
  EXPECT_EQ(trace.best, "A2");
  EXPECT_THAT(trace.diagnostics, IsEmpty());
  ASSERT_EQ(trace.attempts.size(), 2u);
  const Attempt& a = trace.attempts[0];
  EXPECT_EQ(a.id, "A1");
  EXPECT_EQ(a.parent, "");
  EXPECT_EQ(a.hypothesis, "memory bound");
  EXPECT_EQ(a.decision, "keep");
  EXPECT_EQ(a.status, "PASSED");
  EXPECT_EQ(a.median_us, 33.0);
  EXPECT_EQ(a.baseline_us, 41.2);
  EXPECT_EQ(a.speedup, 1.25);
  EXPECT_EQ(a.why, "widen loads next");
  EXPECT_EQ(a.line, 12);
  EXPECT_FALSE(a.derived);
  EXPECT_EQ(a.fields["id"].line(), 13);
  EXPECT_EQ(a.fields["profile"]["metrics"]["dram__throughput.avg.pct_of_peak_sustained_elapsed"]
                .AsDouble(),
            41.7);
  EXPECT_EQ(trace.attempts[1].parent, "A1");
  EXPECT_DOUBLE_EQ(trace.attempts[1].median_us.value(), 12.9);
  EXPECT_FALSE(trace.attempts[1].baseline_us);
  EXPECT_EQ(trace.attempts[1].fields["id"].line(), 30);
  ASSERT_EQ(trace.lessons.size(), 1u);
  EXPECT_EQ(trace.lessons[0].claim, "wide loads");
  EXPECT_THAT(trace.lessons[0].evidence, ElementsAre("A1", "A2"));
  EXPECT_THAT(trace.lessons[0].counter_evidence, ElementsAre("A3", "A4"));
  EXPECT_EQ(trace.lessons[0].confidence, "measured");
  EXPECT_EQ(trace.lessons[0].nnk, "");
}

TEST(ParseTrace, ADefectiveBlockLoadsWithADiagnostic) {
  const struct {
    const char* block;
    const char* rule;
    int line;
    const char* id;
  } cases[] = {
      {"id: A1\nwhy: use when: slow\n", "trace-yaml", 3, "A1"},
      {"id: A1\n] x\nwhy: b\n", "trace-yaml", 3, "A1 ] x"},
      {"- a\n- b\n", "trace-map", 1, ""},
      {"", "trace-map", 1, ""},
      {"id: A1\ntime: {median: 3}\n", "trace-unit", 3, "A1"},
      {"id: A1\ntime: {median: 3, unit: fortnight}\n", "trace-unit", 3, "A1"},
  };
  for (const auto& c : cases) {
    const Trace trace = Parse("```yaml kb:attempt\n" + std::string(c.block) + "```\n");
    ASSERT_EQ(trace.attempts.size(), 1u) << c.block;
    EXPECT_EQ(trace.attempts[0].id, c.id);
    EXPECT_FALSE(trace.attempts[0].median_us);
    ASSERT_THAT(Rules(trace), ElementsAre(c.rule)) << c.block;
    EXPECT_EQ(trace.diagnostics[0].line, c.line) << c.block;
  }
}

TEST(ParseTrace, TimesAreReadLeniently) {
  const struct {
    const char* time;
    double median_us;
  } cases[] = {
      {"{median: 33, unit: us}", 33},  {"{median: '33.5 us', unit: us}", 33.5},
      {"{median: 2, unit: ms}", 2000}, {"{median: 500, unit: ns}", 0.5},
      {"{median: 1, unit: s}", 1e6},   {"{median_us: 7}", 7},
      {"{median_ms: 7}", 7000},        {"{median: 3, unit: µs}", 3},
  };
  for (const auto& c : cases) {
    const Trace trace =
        Parse("```yaml kb:attempt\nid: A\ntime: " + std::string(c.time) + "\n```\n");
    ASSERT_EQ(trace.attempts.size(), 1u);
    EXPECT_EQ(trace.attempts[0].median_us, c.median_us) << c.time;
    EXPECT_THAT(trace.diagnostics, IsEmpty()) << c.time;
  }
}

TEST(ParseTrace, OtherFencesAreNoAttempts) {
  const Trace trace = Parse("```yaml kb:attempts\nid: A1\n```\n```yaml\nid: A2\n```\n");
  EXPECT_FALSE(trace.structured);
  EXPECT_THAT(trace.attempts, IsEmpty());
  EXPECT_THAT(Rules(trace), ElementsAre("trace-journal"));
}

TEST(ParseTrace, TooManyAttemptsAreLeftOutAndSaid) {
  std::string text;
  for (size_t i = 0; i <= kMaxAttempts + 1; ++i) text += "```kb:attempt\nid: A\n```\n";
  const Trace trace = Parse(text);
  EXPECT_EQ(trace.attempts.size(), kMaxAttempts);
  EXPECT_THAT(Rules(trace), ElementsAre("trace-limit"));
}

TEST(ParseTrace, AJournalOfHeadingsIsGuessed) {
  const Trace trace = Parse(
      "# Log\n\nbaseline 41.2 us\n\n## Attempt 1: naive warp per row\n\n"
      "- **Hypothesis**: coalescing suffices\n- Tests: 14 passed\n- Compile took 3.1 s\n"
      "- Time: 33.0 us (baseline 41.2 us), 1.25x speedup\n- Decision: keep\n"
      "### Why\nWhy: bound by stalls\n"
      "## Iteration #2 - wide loads\nbased on: A1\n33.0 us -> 12.9 µs, reverted: mismatch\n"
      "```\nAttempt 9: 1 us\n```\n## Summary\nAttempts were made in 5 us\n");
  EXPECT_FALSE(trace.structured);
  ASSERT_EQ(trace.attempts.size(), 2u);
  const Attempt& a = trace.attempts[0];
  EXPECT_TRUE(a.derived);
  EXPECT_EQ(a.id, "A1");
  EXPECT_EQ(a.line, 5);
  EXPECT_EQ(a.hypothesis, "naive warp per row");
  EXPECT_EQ(a.status, "PASSED");
  EXPECT_EQ(a.median_us, 33.0);
  EXPECT_EQ(a.baseline_us, 41.2);
  EXPECT_EQ(a.speedup, 1.25);
  EXPECT_EQ(a.decision, "keep");
  EXPECT_EQ(a.why, "bound by stalls");
  EXPECT_TRUE(a.fields.IsNull());
  const Attempt& b = trace.attempts[1];
  EXPECT_EQ(b.id, "A2");
  EXPECT_EQ(b.parent, "A1");
  EXPECT_EQ(b.median_us, 12.9);
  EXPECT_EQ(b.baseline_us, 33.0);
  EXPECT_EQ(b.status, "INCORRECT_NUMERICAL");
  EXPECT_EQ(b.decision, "revert");
}

TEST(ParseTrace, AJournalOfListItemsAndTablesIsGuessed) {
  const Trace trace = Parse(
      "# Log\n\n- Experiment 1: tiles, 20 us\n  kept\n- **Experiment 2**: more tiles, 18 us\n\n"
      "| Attempt | Change | Time (ms) | Speedup | Status |\n|---|:--|--|--|--|\n"
      "| 2 | other | 0.5 | 1.1x | ok |\n| 3 | unroll | 0.015 | 2.75 | failed |\n\nend\n");
  ASSERT_EQ(trace.attempts.size(), 3u);
  EXPECT_EQ(trace.attempts[0].median_us, 20.0);
  EXPECT_EQ(trace.attempts[0].decision, "keep");
  EXPECT_EQ(trace.attempts[1].median_us, 18.0);
  EXPECT_EQ(trace.attempts[1].hypothesis, "more tiles, 18 us");
  EXPECT_EQ(trace.attempts[1].speedup, 1.1);
  EXPECT_EQ(trace.attempts[2].id, "A3");
  EXPECT_EQ(trace.attempts[2].line, 10);
  EXPECT_EQ(trace.attempts[2].median_us, 15.0);
  EXPECT_EQ(trace.attempts[2].hypothesis, "unroll");
  EXPECT_EQ(trace.attempts[2].status, "FAILED");
}

TEST(ReadAttemptMark, KnowsTheWordsThatStartAnAttempt) {
  const struct {
    const char* line;
    const char* id;
    const char* rest;
  } cases[] = {
      {"## Attempt A1: naive", "A1", "naive"},
      {"### Round 12", "A12", ""},
      {"- **Version 3** - x", "A3", "x"},
      {"ITERATION #4. y", "A4", "y"},
      {"Experiment v2", "v2", ""},
      {"Attempts were 3", "", ""},
      {"attempt to do 3", "", ""},
      {"Version", "", ""},
      {"An attempt 3", "", ""},
      {"", "", ""},
  };
  for (const auto& c : cases) {
    const AttemptMark mark = ReadAttemptMark(c.line);
    EXPECT_EQ(mark.id, c.id) << c.line;
    EXPECT_EQ(mark.rest, c.rest) << c.line;
  }
}

TEST(ReadJournalLine, ReadsNumbers) {
  const struct {
    const char* line;
    double median, baseline, speedup;  // -1: none
  } cases[] = {
      {"33 us", 33, -1, -1},
      {"median: 33.5us", 33.5, -1, -1},
      {"0.5 ms", 500, -1, -1},
      {"250ns", 0.25, -1, -1},
      {"41 us -> 13 us", 13, 41, -1},
      {"from 41 us to 13 us", 13, 41, -1},
      {"13 us vs 41 us", 13, 41, -1},
      {"baseline 41 us", -1, 41, -1},
      {"13 us, was 41 us, 3.2x faster", 13, 41, 3.2},
      {"speedup: 1.25", -1, -1, 1.25},
      {"speedup of 1.25×", -1, -1, 1.25},
      {"target 10 us", -1, -1, -1},
      {"16x16 tiles, 2x unroll", -1, -1, -1},
      {"took 3 s", -1, -1, -1},
      {"sm_90 v2.5us 1.2.3us", -1, -1, -1},
      {"99999999999999999999999999999999999999999 us", -1, -1, -1},
  };
  for (const auto& c : cases) {
    Attempt attempt;
    ReadJournalLine(c.line, attempt);
    EXPECT_EQ(attempt.median_us.value_or(-1), c.median) << c.line;
    EXPECT_EQ(attempt.baseline_us.value_or(-1), c.baseline) << c.line;
    EXPECT_EQ(attempt.speedup.value_or(-1), c.speedup) << c.line;
  }
}

TEST(ReadJournal, LargeJournalsEndQuickly) {
  for (const char* unit :
       {"Attempt 1: 1 us\n", "1 us ", "| a |\n", "|---|\n", "1", "- ", ": ", "x|"}) {
    std::string text = "Attempt 1\n";
    while (text.size() < (1u << 20)) text += unit;
    EXPECT_LE(Parse(text).attempts.size(), kMaxAttempts);
  }
}

}  // namespace
}  // namespace kb
