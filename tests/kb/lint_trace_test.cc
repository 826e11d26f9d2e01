#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "kb/evidence.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/lint_internal.h"
#include "kb/sha256.h"
#include "tests/kb/lint_fixture.h"

namespace kb {
namespace {

using test::FindFinding;
using test::Has;
using test::LintText;
using test::Rules;
using testing::ElementsAre;
using testing::IsEmpty;

const char kTrace[] = R"(---
kb: trace/1
id: saxpy-1
title: Saxpy
task: {op: saxpy, dtype: f32, shape: n, case: saxpy}
goal: {metric: time, target: 1.2, baseline: scalar}
hardware: H200
toolchain: CUDA 13.0
agent: somebody
raw: [{format: atif, path: raw.json, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]
license: Apache-2.0
created: "2026-05-01T10:00:00Z"
result: {status: PASSED, best: A2, speedup: 1.27, attempts: 3}
---
# Saxpy

```yaml kb:attempt
id: A1
hypothesis: plain loads
tests: {status: PASSED}
time: {unit: us, median: 238.2, baseline: 238.2, speedup: 1.0}
decision: branch
```

```yaml kb:attempt
id: A2
parent: A1
hypothesis: wide loads
tests: {status: PASSED}
time: {unit: us, median: 187.8, baseline: 238.2, speedup: 1.268}
decision: keep
```

```yaml kb:attempt
id: A3
parent: A2
tests: {status: FAILED}
decision: revert
```

```yaml kb:lesson
id: L1
claim: Wide loads help.
evidence: [A1, A2]
counter_evidence: [A3]
confidence: measured
```
)";

// kTrace with the first `from` replaced by `to`.
std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Diagnostics LintTraceText(const std::string& text, const LintContext& context = {}) {
  return LintText("traces/2026/saxpy-1.md", text, context);
}

TEST(LintTrace, AcceptsASoundTrace) { EXPECT_THAT(LintTraceText(kTrace), IsEmpty()); }

struct Change {
  const char* from;
  const char* to;
  const char* rule;
};

TEST(LintTrace, OneChangeBreaksOneRule) {
  const Change changes[] = {
      {"title: Saxpy\n", "", "trace-field"},
      {"goal: {metric: time, target: 1.2, baseline: scalar}\n", "goal:\n", "trace-field"},
      {"kb: trace/1", "kb: trace/9", "trace-version"},
      {"id: saxpy-1", "id: saxpy-2", "trace-id"},
      {"license: Apache-2.0\n", "", "license-missing"},
      {"2026-05-01T10:00:00Z", "yesterday", "trace-created"},
      {", sha256: 9f86", ", sha256: 9f", "trace-raw"},
      {"```yaml kb:lesson", "```yaml kb:attempt\nid: A3\n```\n\n```yaml kb:lesson",
       "trace-attempt-id"},
      {"```yaml kb:lesson", "```yaml kb:attempt\ndecision: keep\n```\n\n```yaml kb:lesson",
       "trace-attempt-id"},
      {"id: L1\n", "", "trace-lesson-id"},
      {"parent: A2", "parent: A9", "trace-parent"},
      {"id: A1\n", "id: A1\nparent: A3\n", "trace-cycle"},
      {"id: A1\n", "id: A1\nparent: A1\n", "trace-cycle"},
      {"tests: {status: FAILED}\n",
       "tests: {status: FAILED}\ntime: {unit: us, median: 9, baseline: 9}\n", "trace-performance"},
      {"speedup: 1.268", "speedup: 1.282", "trace-speedup"},
      {"median: 187.8, baseline: 238.2, speedup: 1.268", "median: 0", "trace-speedup"},
      {"best: A2", "best: A9", "trace-best"},
      {"best: A2, speedup: 1.27", "best: A3, speedup: 1.27", "trace-best"},
      {"speedup: 1.27", "speedup: 1.9", "trace-result"},
      {"evidence: [A1, A2]", "evidence: [A1, A9]", "trace-evidence"},
      {"evidence: [A1, A2]", "evidence: []", "trace-evidence"},
      {"counter_evidence: [A3]", "counter_evidence: [A9]", "trace-evidence"},
      {"confidence: measured", "confidence: certain", "trace-vocabulary"},
      {"decision: revert", "decision: undo", "trace-vocabulary"},
      {"claim: Wide loads help.\n", "", "trace-lesson-claim"},
      {"# Saxpy\n", "# Saxpy\n\nin /home/alice/kb\n", "trace-home-path"},
      {"# Saxpy\n", "# Saxpy\n\ncurl x.y | sh\n", "safety-pipe-to-shell"},
  };
  for (const Change& change : changes) {
    const Diagnostics found = LintTraceText(With(kTrace, change.from, change.to));
    EXPECT_THAT(Rules(found), ElementsAre(change.rule)) << change.from << " -> " << change.to;
    for (const Diagnostic& diagnostic : found) {
      EXPECT_EQ(diagnostic.severity, FindRule(change.rule)->severity);
    }
  }
}

TEST(LintTrace, TakesASpeedupWithinOnePercent) {
  EXPECT_THAT(LintTraceText(With(kTrace, "speedup: 1.268", "speedup: 1.28")), IsEmpty());
  EXPECT_THAT(Rules(LintTraceText(With(kTrace, "speedup: 1.268", "speedup: 1.282"))),
              ElementsAre("trace-speedup"));
}

TEST(LintTrace, NamesTheLineOfTheAttempt) {
  const Diagnostics found = LintTraceText(With(kTrace, "parent: A2", "parent: A9"));
  const Diagnostic* finding = FindFinding(found, "trace-parent");
  ASSERT_NE(finding, nullptr);
  const std::string text = kTrace;
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<long>(text.find("id: A3")), '\n');
  EXPECT_GE(finding->line, line - 1);  // the fence or the first key
  EXPECT_LE(finding->line, line);
}

TEST(LintTrace, AsksForTheEntryOfALesson) {
  LintContext context;
  context.entry_state = [](std::string_view id) {
    return std::string(id == "good" ? "proved" : "");
  };
  const std::string good = With(kTrace, "id: L1\n", "id: L1\nnnk: good\n");
  const std::string lost = With(kTrace, "id: L1\n", "id: L1\nnnk: lost\n");
  EXPECT_THAT(LintTraceText(good, context), IsEmpty());
  EXPECT_THAT(Rules(LintTraceText(lost, context)), ElementsAre("cite-missing"));
}

TEST(LintTrace, WalksLongChainsInNoTime) {
  std::string text = std::string(kTrace).substr(0, std::string(kTrace).find("```yaml"));
  for (int i = 0; i < 3000; ++i) {
    text += "```yaml kb:attempt\nid: B" + std::to_string(i) + "\nparent: B" +
            std::to_string((i + 1) % 3000) + "\ntests: {status: PASSED}\n```\n";
  }
  EXPECT_TRUE(Has(LintTraceText(With(text, "best: A2, speedup: 1.27", "best: B1")), "trace-cycle"));
}

TEST(IsTimestamp, FollowsRfc3339) {
  for (const char* good : {"2026-05-01", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00.123+02:00",
                           "2026-12-31t23:59:60z"}) {
    EXPECT_TRUE(IsTimestamp(good)) << good;
  }
  for (const char* bad :
       {"", "2026", "2026-13-01", "2026-00-01", "2026-05-32", "2026-05-01T10:00", "2026-05-01 10",
        "2026-05-01T10:00:00", "2026-05-01T25:00:00Z", "2026-05-01T10:00:00.Zx", "05/01/2026"}) {
    EXPECT_FALSE(IsTimestamp(bad)) << bad;
  }
}

// ---- entries ----

const char kEntry[] = R"(---
kb: nnk/1
id: saxpy-f4
title: Wide loads
claim: Wide loads make saxpy 1.27 times faster on an H200.
scope: {arch: ">=sm_80", cuda: ">=12.0", dtype: f32, shape: n % 4 == 0}
not_when: the pointers are not aligned to 16 bytes
case: {name: saxpy, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}
candidate: {kind: device, files: [saxpy.cu], sha256: {saxpy.cu: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}}
state: proved
best: {gpu: H200, median_us: 187.8, baseline: scalar, speedup: 1.2683, ci95: [1.2679, 1.2688]}
red: {mutants: 12, killed: 11, survivors: 1}
provenance: {author: somebody, license: Apache-2.0}
license: Apache-2.0
---
# Wide loads
)";

Diagnostics LintEntryText(const std::string& text) { return LintText("nnk/saxpy-f4/NNK.md", text); }

TEST(LintNnk, AcceptsASoundEntry) { EXPECT_THAT(LintEntryText(kEntry), IsEmpty()); }

TEST(LintNnk, OneChangeBreaksOneRule) {
  const Change changes[] = {
      {"not_when: the pointers are not aligned to 16 bytes\n", "", "nnk-field"},
      {"scope: {arch: \">=sm_80\", cuda: \">=12.0\", dtype: f32, shape: n % 4 == 0}", "scope: {}",
       "nnk-field"},
      {"kb: nnk/1", "kb: nnk/9", "nnk-version"},
      {"id: saxpy-f4", "id: other", "nnk-id"},
      {"1.27 times faster", "faster", "nnk-claim"},
      {"on an H200.", "on it. It is good 1.", "nnk-claim"},
      {">=sm_80", "new ones", "nnk-scope"},
      {">=12.0", "recent", "nnk-scope"},
      {"name: saxpy", "name: ../saxpy", "nnk-case"},
      {", sha256: 9f86d081884c", ", sha256: XYZ", "nnk-sha256"},
      {"{saxpy.cu: 9f86", "{saxpy.cu: 9F86", "nnk-sha256"},
      {"state: proved", "state: certain", "nnk-state"},
      {"gpu: H200, ", "", "nnk-best"},
      {"median_us: 187.8", "median_us: -1", "nnk-best"},
      {"[1.2679, 1.2688]", "[1.2688, 1.2679]", "nnk-ci95"},
      {"[1.2679, 1.2688]", "[1.3, 1.4]", "nnk-ci95"},
      {"[1.2679, 1.2688]", "[.nan, .nan]", "nnk-ci95"},
      {"[1.2679, 1.2688]", "1.2", "nnk-ci95"},
      {"red: {mutants: 12, killed: 11, survivors: 1}\n", "", "nnk-red"},
      {"killed: 11", "killed: 13", "nnk-red"},
      {"survivors: 1", "survivors: 2", "nnk-red"},
      {"mutants: 12, killed: 11, survivors: 1", "mutants: 0, killed: 0, survivors: 0", "nnk-red"},
  };
  for (const Change& change : changes) {
    EXPECT_THAT(Rules(LintEntryText(With(kEntry, change.from, change.to))),
                ElementsAre(change.rule))
        << change.from << " -> " << change.to;
  }
}

TEST(LintNnk, SurvivorsMayBeListed) {
  EXPECT_THAT(LintEntryText(With(kEntry, "survivors: 1", "survivors: [m7]")), IsEmpty());
}

// Evidence for the numbers of kEntry.
Value Evidence(double speedup = 1.2683) {
  const char* text =
      R"({"kb": "evaluation/1", "status": "PASSED", "created": "2026-01-01T00:00:00Z",
    "case": {"sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
    "environment": {"gpu": "H200"}, "measure": [{"workload": "n", "cold_l2": true,
    "baseline": {"id": "scalar", "median": 238.2}, "candidate": {"median": 187.8},
    "ratio": {"median": SPEEDUP, "ci95": [1.2679, 1.2688]}, "faster": true}]})";
  return *ParseJson(With(text, "SPEEDUP", std::to_string(speedup)));
}

class LintNnkFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ + "/candidate");
    std::filesystem::create_directories(folder_ + "/evidence");
    WriteFileAtomically(folder_ + "/NNK.md", kEntry);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void Write(const Value& evidence, std::string name = "") {
    if (name.empty()) name = EvidenceFileName(evidence);
    WriteFileAtomically(folder_ + "/evidence/" + name, WriteJson(evidence, 1));
  }
  Diagnostics LintIt(const std::string& text = kEntry) {
    return LintText(folder_ + "/NNK.md", text);
  }

  const std::string root_ = testing::TempDir() + "kb_lint_nnk_" + std::to_string(getpid());
  const std::string folder_ = root_ + "/saxpy-f4";
};

TEST_F(LintNnkFolder, AnEntryOnDiskHasItsFolders) {
  EXPECT_THAT(Rules(LintIt()), ElementsAre("nnk-evidence"));
  std::filesystem::remove_all(folder_ + "/evidence");
  EXPECT_THAT(Rules(LintIt()), ElementsAre("nnk-evidence"));
  std::filesystem::create_directories(folder_ + "/evidence");
  Write(Evidence());
  EXPECT_THAT(LintIt(), IsEmpty());
  std::filesystem::remove_all(folder_ + "/candidate");
  EXPECT_THAT(Rules(LintIt()), ElementsAre("nnk-candidate"));
}

TEST_F(LintNnkFolder, EvidenceThatWasEditedIsAnError) {
  Write(Evidence());
  Write(Evidence(1.2684), EvidenceFileName(Evidence()));
  EXPECT_THAT(Rules(LintIt()), ElementsAre("nnk-evidence-digest"));
  Write(Evidence());
  Write(Value(Value::Map{{"median_us", 1.5}}), "h200.json");
  EXPECT_THAT(Rules(LintIt()), ElementsAre("nnk-evidence-digest"));
}

TEST_F(LintNnkFolder, StateAndBestAreWhatTheEvidenceSays) {
  Write(Evidence());
  const Change changes[] = {{"state: proved", "state: replicated", "nnk-state"},
                            {"state: proved", "state: refuted", "nnk-state"},
                            {"median_us: 187.8", "median_us: 180.8", "nnk-state"},
                            {"speedup: 1.2683", "speedup: 1.2684", "nnk-state"},
                            {"baseline: scalar", "baseline: slow", "nnk-state"}};
  for (const Change& change : changes) {
    EXPECT_THAT(Rules(LintIt(With(kEntry, change.from, change.to))), ElementsAre(change.rule))
        << change.to;
  }
  EXPECT_THAT(LintIt(With(kEntry, "state: proved", "state: stale")), IsEmpty())
      << "it says less than the evidence";
}

TEST_F(LintNnkFolder, TheCandidateIsTheOneThatWasMeasured) {
  Write(Evidence());
  WriteFileAtomically(folder_ + "/candidate/k.cu", "code");
  const std::string hashed = With(kEntry, "{kind: device, ",
                                  "{kind: device, files_sha256: {k.cu: " + Sha256("code") + "}, ");
  EXPECT_THAT(LintIt(hashed), IsEmpty());
  WriteFileAtomically(folder_ + "/candidate/k.cu", "other code");
  EXPECT_THAT(Rules(LintIt(hashed)), ElementsAre("nnk-candidate"));
}

}  // namespace
}  // namespace kb
