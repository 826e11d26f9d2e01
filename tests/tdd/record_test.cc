#include "tdd/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/diagnostic.h"
#include "kb/error.h"
#include "kb/json.h"
#include "kb/lint.h"
#include "kb/nnk.h"
#include "tdd/entry_text.h"
#include "tests/tdd/record_fixture.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RecordEntryTest : public test::RecordTest {
 protected:
  std::string Linted(const std::string& id) const {
    std::string all;
    for (const Diagnostic& d : Lint(ParseDocument(nnk_ + "/" + id + "/NNK.md", Text(id)))) {
      all += FormatDiagnostic(d) + "\n";
    }
    return all;
  }
  std::vector<std::string> Names(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& item : fs::directory_iterator(folder)) {
      names.push_back(item.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string State(const std::string& id) const {
    return ParseNnkEntry(ParseDocument(nnk_ + "/" + id + "/NNK.md", Text(id))).state;
  }
};

TEST_F(RecordEntryTest, WritesAnEntryThatLintAndReaderAccept) {
  const Recorded recorded = Record(candidate_, Evaluate(candidate_, {}));
  ASSERT_EQ(recorded.refused, "");
  EXPECT_EQ(recorded.id, "copy-wide");
  EXPECT_EQ(Linted("copy-wide"), "");
  EXPECT_THAT(Names(nnk_), ElementsAre("copy-wide")) << "no draft is left";
  EXPECT_THAT(Names(nnk_ + "/copy-wide"), ElementsAre("NNK.md", "candidate", "evidence"));
  EXPECT_THAT(Names(nnk_ + "/copy-wide/candidate"), ElementsAre("kernel.cu", "launch.yaml"));
  EXPECT_THAT(Names(nnk_ + "/copy-wide/evidence"),
              ElementsAre(EvidenceFileName(ToValue(Evaluate(candidate_, {})))));
  const NnkEntry entry =
      ParseNnkEntry(ParseDocument(recorded.folder + "/NNK.md", Text("copy-wide")));
  EXPECT_EQ(entry.claim,
            "On an NVIDIA H200 (CUDA 13.0) copy/wide takes 187.8 us for 67108864, 1.25x [1.249, "
            "1.251] as fast as naive with cold L2, 95 % of the roofline");
  EXPECT_EQ(entry.state, "proved");
  EXPECT_EQ(entry.median_us, 187.8);
  EXPECT_EQ(entry.speedup, 1.25);
  EXPECT_EQ(entry.ci95_low, 1.249);
  EXPECT_EQ(entry.percent_of_roofline, 95);
  EXPECT_EQ(entry.case_sha256, case_.sha256);
}

TEST_F(RecordEntryTest, TheEntrySaysWhatAReaderNeeds) {
  WriteFileAtomically(candidate_.folder + "/NOTES.md",
                      "# Wide\n\nOne load moves 16 bytes.\n\n## Limits\n\nThe bus.\n");
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {})).refused, "");
  const std::string text = Text("copy-wide");
  for (const char* part :
       {"\n## When to use it\n", "\n## The idea\n\n### Wide\n\nOne load moves 16 bytes.\n",
        "\n## What limits it\n\nThe bus.\n", "\n## The smallest code\n\n```cuda\nextern",
        "\n## What failed before\n", "these passed it: narrow", "loop-bound:4:1",
        "rejected 2 of 3 wrong kernels", "`kb tdd prove nnk/copy-wide`",
        "not faster on: 1048576 cold (0.99x)",
        "red: {mutants: 3, killed: 2, survivors: [\"narrow\"]}", "deterministic: true",
        "sanitizer: \"PASSED\"", "arch: \">=sm_80\"", "cuda: \">=13.0\"", "dtype: \"f32\"",
        "| 67108864 | warm |"}) {
    EXPECT_THAT(text, HasSubstr(part)) << part;
  }
  EXPECT_EQ(Linted("copy-wide"), "");
  EXPECT_THAT(Names(nnk_ + "/copy-wide/candidate"),
              ElementsAre("NOTES.md", "kernel.cu", "launch.yaml"));
}

TEST_F(RecordEntryTest, RefusesWhatMayNotBecomeKnowledge) {
  const auto refused = [&](const std::function<void(Evaluation&)>& change) {
    Evaluation evaluation = Evaluate(candidate_, {});
    change(evaluation);
    const Recorded recorded = Record(candidate_, evaluation);
    EXPECT_FALSE(fs::exists(nnk_ + "/copy-wide"));
    return recorded.refused;
  };
  EXPECT_THAT(refused([](Evaluation& e) { e.verdict.status = Status::kWeakTest; }),
              HasSubstr("did not pass: WEAK_TEST"));
  EXPECT_THAT(refused([](Evaluation& e) { e.environment.Set("emulated", true); }),
              HasSubstr("emulated"));
  EXPECT_THAT(refused([](Evaluation& e) { e.stages[0].detail = Value(); }),
              HasSubstr("not seen to fail"));
  EXPECT_THAT(refused([](Evaluation& e) { e.stages.resize(3); }), HasSubstr("nothing was timed"));
  EXPECT_THAT(refused([](Evaluation& e) { e.stages.resize(4); }), HasSubstr("roofline"));
  EXPECT_THAT(refused([](Evaluation& e) {
                e.case_identity = Value(Value::Map{{"name", "copy"}, {"sha256", "x"}});
              }),
              HasSubstr("the case has changed"));
  WriteFileAtomically(candidate_.folder + "/launch.yaml", "title: other\n");
  EXPECT_THAT(refused([](Evaluation&) {}), HasSubstr("the candidate has changed"));
}

TEST_F(RecordEntryTest, SlowMemoryBoundEntriesSayWhatLimitsThem) {
  const Evaluation slow = Evaluate(candidate_, {1.25, 61});
  EXPECT_THAT(Record(candidate_, slow).refused, HasSubstr("what limits it"));
  EXPECT_FALSE(fs::exists(nnk_ + "/copy-wide"));
  Candidate explained = candidate_;
  explained.limit = "atomics on one address";
  EXPECT_EQ(Record(explained, slow).refused, "");
  EXPECT_THAT(Text("copy-wide"), HasSubstr("## What limits it\n\natomics on one address\n"));
}

TEST_F(RecordEntryTest, NothingHalfIsLeftWhereLintOrTheDiskRefuses) {
  Candidate hidden = Make("hidden", "x: 1\n", "// \xE2\x80\xAE reversed\n");
  EXPECT_THAT(Record(hidden, Evaluate(hidden, {})).refused, HasSubstr("safety-bidi"));
  EXPECT_THAT(Names(nnk_), IsEmpty());
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {})).refused, "");
  RecordRequest request;
  const Evaluation evaluation = Evaluate(candidate_, {});
  request.of_case = &case_;
  request.candidate = &candidate_;
  request.evaluation = &evaluation;
  request.news = JudgeNews(case_, evaluation, {});
  request.nnk_folder = nnk_;
  EXPECT_THAT(RecordEntry(request).refused, HasSubstr("is there already"));
  request.id = "../x";
  EXPECT_THAT(RecordEntry(request).refused, HasSubstr("no safe folder name"));
  request.id = "other";
  request.nnk_folder = root_ + "/candidates/wide/launch.yaml";
  EXPECT_THROW(static_cast<void>(RecordEntry(request)), Error);
}

TEST_F(RecordEntryTest, CodeOfTheCandidateCannotLeaveItsFence) {
  const Candidate tricky =
      Make("tricky", "x: 1\n", "/*\n```\n````\n# Not a heading\n*/\n__global__ void k() {}\n");
  ASSERT_EQ(Record(tricky, Evaluate(tricky, {})).refused, "");
  EXPECT_THAT(Text("copy-tricky"), HasSubstr("\n`````cuda\n/*\n```\n````\n# Not a heading\n"));
}

TEST_F(RecordEntryTest, ALongKernelIsShownInPart) {
  std::string code = "// license\n\n";
  for (int i = 0; i < 200; ++i) code += "// " + std::to_string(i) + "\n";
  code += "extern \"C\" __global__ void k() {\n}\n";
  const Candidate lengthy = Make("long", "x: 1\n", code);
  ASSERT_EQ(Record(lengthy, Evaluate(lengthy, {})).refused, "");
  EXPECT_THAT(Text("copy-long"),
              HasSubstr("```cuda fragment\nextern \"C\" __global__ void k() {\n"));
  EXPECT_THAT(Text("copy-long"), HasSubstr("Whole: `candidate/kernel.cu`"));
}

TEST_F(RecordEntryTest, ThatItDoesNotHelpIsAnEntryToo) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.001}), true).refused, "");
  EXPECT_THAT(Text("copy-wide"), HasSubstr("kind: \"negative\"\nclaim: \"On an NVIDIA H200 (CUDA "
                                           "13.0) copy/wide does not help: it takes"));
  EXPECT_EQ(Linted("copy-wide"), "");
}

// ---- evidence that is added ----

TEST_F(RecordEntryTest, AnotherRunThatAgreesReplicates) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const std::string before = Text("copy-wide");
  const Evaluation again = Evaluate(candidate_, {1.2503}, "2026-12-01T12:00:00Z");
  ASSERT_EQ(AppendEvidence(nnk_ + "/copy-wide/", again).refused, "");
  EXPECT_EQ(State("copy-wide"), "replicated");
  EXPECT_EQ(Names(nnk_ + "/copy-wide/evidence").size(), 2u);
  EXPECT_EQ(Linted("copy-wide"), "");
  std::string expected = before;
  expected.replace(expected.find("\"proved\""), 8, "\"replicated\"");
  EXPECT_EQ(Text("copy-wide"), expected) << "the rest stays, byte by byte";
  ASSERT_EQ(AppendEvidence(nnk_ + "/copy-wide", again).refused, "");
  EXPECT_EQ(Names(nnk_ + "/copy-wide/evidence").size(), 2u) << "the same run counts once";
}

TEST_F(RecordEntryTest, ARunThatContradictsRefutes) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  Evaluation failed = Evaluate(candidate_, {1.25}, "2026-12-01T12:00:00Z");
  failed.verdict = {Status::kIncorrectNumerical, "", "y[0] is 1"};
  ASSERT_EQ(AppendEvidence(nnk_ + "/copy-wide", failed).refused, "");
  EXPECT_EQ(State("copy-wide"), "refuted");
  EXPECT_EQ(Linted("copy-wide"), "");
}

TEST_F(RecordEntryTest, ANewCaseMakesTheOldEvidenceCountNoMore) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  case_.sha256 = std::string(64, 'e');
  ASSERT_EQ(
      AppendEvidence(nnk_ + "/copy-wide", Evaluate(candidate_, {1.22}, "2026-12-01T12:00:00Z"))
          .refused,
      "");
  EXPECT_EQ(State("copy-wide"), "proved");
  EXPECT_THAT(Text("copy-wide"), HasSubstr("speedup: 1.22"));
  EXPECT_THAT(Text("copy-wide"), HasSubstr("1.22x [1.219, 1.221] as fast"));
  EXPECT_THAT(Text("copy-wide"), Not(HasSubstr(std::string(64, 'c'))));
  EXPECT_EQ(Linted("copy-wide"), "");
}

TEST_F(RecordEntryTest, EvidenceThatSaysNothingIsRefused) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const std::string before = Text("copy-wide");
  Evaluation skipped = Evaluate(candidate_, {1.25});
  skipped.verdict = {Status::kSkipped, "no device", ""};
  EXPECT_THAT(AppendEvidence(nnk_ + "/copy-wide", skipped).refused, HasSubstr("SKIPPED"));
  const Candidate other = Make("other", "x: 3\n");
  EXPECT_THAT(AppendEvidence(nnk_ + "/copy-wide", Evaluate(other, {})).refused,
              HasSubstr("another candidate"));
  Evaluation emulated = Evaluate(candidate_, {1.25});
  emulated.environment.Set("emulated", true);
  EXPECT_THAT(AppendEvidence(nnk_ + "/copy-wide", emulated).refused, HasSubstr("emulated"));
  EXPECT_EQ(Names(nnk_ + "/copy-wide/evidence").size(), 1u);
  EXPECT_EQ(Text("copy-wide"), before);
  EXPECT_THROW(static_cast<void>(AppendEvidence(nnk_ + "/none", skipped)), Error);
}

TEST_F(RecordEntryTest, EvidenceThatWasEditedByHandDoesNotCount) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const std::string name = Names(nnk_ + "/copy-wide/evidence")[0];
  const std::string path = nnk_ + "/copy-wide/evidence/" + name;
  std::string text = *ReadFile(path);
  const size_t at = text.find("187.8");
  ASSERT_NE(at, std::string::npos);
  WriteFileAtomically(path, text.replace(at, 5, "107.8"));
  EXPECT_THAT(Linted("copy-wide"), HasSubstr("nnk-evidence-digest"));
  EXPECT_EQ(ReadEntry(nnk_ + "/copy-wide")->state.state, "");
}

// ---- age ----

TEST_F(RecordEntryTest, AnEntryGoesStaleWithWhatItRestsOn) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const KnownEntry entry = *ReadEntry(nnk_ + "/copy-wide");
  const std::string now = case_.sha256;
  const struct {
    Surroundings surroundings;
    const char* state;
    const char* why;
  } cases[] = {{{now, "13.0", "sm_90"}, "proved", "1 run"},
               {{now, "12.8", "sm_80"}, "proved", "1 run"},
               {{now, "", ""}, "proved", "1 run"},
               {{std::string(64, 'f'), "", ""}, "stale", "case has changed"},
               {{"", "", ""}, "stale", "is gone"},
               {{now, "13.1", ""}, "stale", "CUDA 13.1 is newer"},
               {{now, "13.0", "sm_100"}, "stale", "sm_100 is newer"}};
  for (const auto& c : cases) {
    const EntryState state = StateOf(entry, c.surroundings);
    EXPECT_EQ(state.state, c.state) << c.why;
    EXPECT_THAT(state.why, HasSubstr(c.why));
  }
  EXPECT_EQ(StateOf(nnk_ + "/copy-wide", case_).state, "proved");
  WriteFileAtomically(nnk_ + "/copy-wide/candidate/kernel.cu", "other");
  EXPECT_THAT(StateOf(entry, {now, "", ""}).why, HasSubstr("kernel.cu has changed"));
  EXPECT_EQ(StateOf(root_ + "/none", case_).state, "");
}

TEST_F(RecordEntryTest, StaleEntriesAreListedWithWhy) {
  ASSERT_EQ(Record(candidate_, Evaluate(candidate_, {1.25})).refused, "");
  const std::vector<StaleEntry> stale = StaleEntries(nnk_, root_ + "/cases", "13.0", "sm_90");
  ASSERT_EQ(stale.size(), 1u);
  EXPECT_EQ(stale[0].id, "copy-wide");
  EXPECT_EQ(stale[0].state, "stale");
  EXPECT_EQ(stale[0].why, "its case copy is gone");
}

// ---- text ----

TEST(ReadNotes, TakesTheSectionOfLimitsOut) {
  const SplitNotes notes =
      ReadNotes("# A\ntext\n## What limits it\nbus\n### B\nmore\n```\n# limit\n```\n");
  EXPECT_EQ(notes.idea, "### A\ntext\n### B\nmore\n```\n# limit\n```\n");
  EXPECT_EQ(notes.limit, "bus\n");
}

TEST(CountRed, LeavesOutWhatIsEquivalentOrDidNotRun) {
  const Value red = *ParseJson(
      R"({"mutants": [{"name": "a", "killed_by": ["T"]}, {"name": "b", "killed_by": []},
          {"name": "c", "status": "not compiled"}, {"name": "d", "status": "duplicate"}]})");
  const RedCount count = CountRed(red);
  EXPECT_EQ(count.mutants, 2);
  EXPECT_EQ(count.killed, 1);
  EXPECT_THAT(count.survivors, ElementsAre("b"));
}

TEST(FrontLine, QuotesWhatYamlWouldReadOtherwise) {
  EXPECT_EQ(FrontLine("a", Value("x: \"y\" # z")), "a: \"x: \\\"y\\\" # z\"\n");
  EXPECT_EQ(
      FrontLine("a", Value(Value::Map{{"k.cu", "1"}, {"n", 2}, {"l", Value(Value::List{1.5})}})),
      "a: {\"k.cu\": \"1\", n: 2, l: [1.5]}\n");
}

}  // namespace
}  // namespace kb
