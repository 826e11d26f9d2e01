#include "kb/evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "kb/entry_state.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Value Json(const std::string& text) {
  std::string why;
  const std::optional<Value> value = ParseJson(text, &why);
  EXPECT_TRUE(value) << why << ": " << text;
  return value.value_or(Value());
}

TEST(CanonicalJson, IsTheSameHoweverItIsWritten) {
  const Value a = Json(R"({"b": [1, 2.0, {"y": null, "x": "é"}], "a": true})");
  const Value b = Json("{\n \"a\": true,\n \"b\": [1, 2.0, {\"x\": \"\\u00e9\", \"y\": null}]}\n");
  EXPECT_EQ(CanonicalJson(a), CanonicalJson(b));
  EXPECT_EQ(CanonicalJson(a), R"({"a":true,"b":[1,2.0,{"x":"é","y":null}]})");
  EXPECT_NE(CanonicalJson(a), CanonicalJson(Json(R"({"b": [2.0, 1], "a": true})")));
}

Value OnGpu(const char* gpu) {
  return Value(Value::Map{{"environment", Value(Value::Map{{"gpu", gpu}})}});
}

TEST(EvidenceFileName, NamesTheGpuAndTheDigest) {
  const Value value = OnGpu("NVIDIA H200 (SXM)");
  EXPECT_EQ(EvidenceFileName(value),
            "nvidia-h200-sxm-" + EvidenceDigest(value).substr(0, 12) + ".json");
  EXPECT_THAT(EvidenceFileName(OnGpu("../../x")), testing::StartsWith("x-"));
  EXPECT_THAT(EvidenceFileName(Value()), testing::StartsWith("no-gpu-"));
}

class Folder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(path_ + "/evidence"); }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string Write(const Value& value) {
    const std::string name = EvidenceFileName(value);
    WriteFileAtomically(path_ + "/evidence/" + name, WriteJson(value, 1));
    return name;
  }
  const std::string path_ = testing::TempDir() + "kb_evidence_" + std::to_string(getpid());
};

TEST_F(Folder, SoundFilesAreReadByDate) {
  const std::string late = Write(Json(R"({"kb": "evaluation/1", "created": "2026-02", "x": 1})"));
  const std::string early = Write(Json(R"({"kb": "evaluation/1", "created": "2026-01", "x": 2})"));
  WriteFileAtomically(path_ + "/evidence/notes.txt", "not looked at");
  const EvidenceFolder folder = ReadEvidence(path_);
  EXPECT_THAT(folder.faults, IsEmpty());
  ASSERT_EQ(folder.files.size(), 2u);
  EXPECT_EQ(folder.files[0].name, early);
  EXPECT_EQ(folder.files[1].name, late);
  EXPECT_EQ(folder.found, 2);
}

TEST_F(Folder, WhatIsNotAsWrittenIsAFault) {
  const std::string name = Write(Json(R"({"kb": "evaluation/1", "x": 1})"));
  const std::string path = path_ + "/evidence/" + name;
  std::filesystem::create_symlink(path, path_ + "/evidence/a-" + name.substr(7));
  WriteFileAtomically(path_ + "/evidence/b.json", "{");
  WriteFileAtomically(path_ + "/evidence/c.json", "{}");
  WriteFileAtomically(path_ + "/evidence/d.json", std::string(200, '['));
  std::filesystem::create_directory(path_ + "/evidence/e.json");
  std::filesystem::resize_file(path_ + "/evidence/c.json", 9 << 20);
  EvidenceFolder folder = ReadEvidence(path_);
  EXPECT_EQ(folder.files.size(), 1u);
  EXPECT_EQ(folder.faults.size(), 5u);
  WriteFileAtomically(path, R"({"kb": "evaluation/1", "x": 2})");
  folder = ReadEvidence(path_);
  EXPECT_THAT(folder.files, IsEmpty());
  EXPECT_THAT(folder.faults.back().message, HasSubstr("it was edited"));
  EXPECT_THAT(ReadEvidence(path_ + "/none").files, IsEmpty());
}

// ---- states ----

struct TimedRun {
  double ratio = 1.25, half = 0.001, us = 150;
  std::string status = "PASSED", gpu = "NVIDIA H200", case_sha = "c", candidate_sha = "d";
};

std::vector<EvidenceFile> Files(const std::vector<TimedRun>& runs) {
  std::vector<EvidenceFile> files;
  for (const TimedRun& run : runs) {
    Value measure(Value::List{Value(Value::Map{
        {"workload", "n"},
        {"cold_l2", true},
        {"baseline", Value(Value::Map{{"id", "naive"}, {"median", run.us * run.ratio}})},
        {"candidate", Value(Value::Map{{"median", run.us}})},
        {"ratio", Value(Value::Map{{"median", run.ratio},
                                   {"ci95", Value(Value::List{run.ratio - run.half,
                                                              run.ratio + run.half})}})}})});
    Value value(Value::Map{{"kb", "evaluation/1"},
                           {"status", run.status},
                           {"case", Value(Value::Map{{"sha256", run.case_sha}})},
                           {"candidate", Value(Value::Map{{"sha256", run.candidate_sha}})},
                           {"environment", Value(Value::Map{{"gpu", run.gpu}})}});
    if (run.status == "PASSED") value.Set("measure", measure);
    files.push_back({"run" + std::to_string(files.size()), "", value});
  }
  return files;
}

TEST(StateFromEvidence, FollowsFromTheRuns) {
  const TimedRun good, same = {1.2505, 0.001}, near = {1.255, 0.001}, far = {1.30, 0.001};
  const TimedRun lower = {1.20, 0.001}, slower = {0.99, 0.001}, unsure = {1.0005, 0.001};
  const TimedRun wrong = {1.25, 0.001, 150, "INCORRECT_NUMERICAL"};
  const TimedRun skipped = {1.25, 0.001, 150, "SKIPPED"};
  const TimedRun other_gpu = {0.9, 0.001, 150, "PASSED", "NVIDIA L4"};
  const TimedRun other_case = {1.25, 0.001, 150, "PASSED", "NVIDIA H200", "C"};
  const TimedRun other_code = {1.25, 0.001, 150, "PASSED", "NVIDIA H200", "c", "D"};
  const struct {
    std::vector<TimedRun> runs;
    const char* state;
  } cases[] = {{{}, ""},
               {{good}, "proved"},
               {{good, same}, "replicated"},
               {{good, near}, "replicated"},
               {{good, far}, "proved"},
               {{good, lower}, "refuted"},
               {{good, slower}, "refuted"},
               {{good, unsure}, "refuted"},
               {{good, same, wrong}, "refuted"},
               {{good, wrong, same}, "replicated"},
               {{good, skipped}, "proved"},
               {{good, other_gpu}, "proved"},
               {{good, other_case, other_code}, "proved"},
               {{other_case}, "stale"},
               {{other_code}, "stale"},
               {{slower}, "refuted"},
               {{wrong}, "refuted"},
               {{skipped}, "stale"}};
  const Value front = Json(R"({"case": {"sha256": "c"}, "candidate": {"sha256": "d"}})");
  for (const auto& c : cases) {
    const EntryState state = StateFromEvidence(front, Files(c.runs));
    EXPECT_EQ(state.state, c.state) << "case " << &c - cases << ": " << state.why;
    EXPECT_FALSE(state.why.empty());
  }
}

TEST(StateFromEvidence, TheFirstRunIsTheBestNotTheLuckiest) {
  const Value front = Json(R"({"case": {"sha256": "c"}, "candidate": {"sha256": "d"}})");
  const EntryState state = StateFromEvidence(front, Files({{1.25}, {1.2505}, {1.2509}}));
  ASSERT_TRUE(state.best);
  EXPECT_EQ(state.best->speedup, 1.25);
}

TEST(StateFromEvidence, ANegativeClaimIsRefutedByAnImprovement) {
  const Value front =
      Json(R"({"kind": "negative", "case": {"sha256": "c"}, "candidate": {"sha256": "d"}})");
  EXPECT_EQ(StateFromEvidence(front, Files({{1.001, 0.002}})).state, "proved");
  EXPECT_EQ(StateFromEvidence(front, Files({{1.001, 0.002}, {1.0, 0.002}})).state, "replicated");
  EXPECT_EQ(StateFromEvidence(front, Files({{1.001, 0.002}, {1.05, 0.002}})).state, "refuted");
}

TEST(RatiosAgree, ByIntervalOrByHalfAPercentOrOne) {
  const auto headline = [](double ratio, double half, double us, const char* gpu = "a") {
    return *HeadlineOf(Files({{ratio, half, us, "PASSED", gpu}})[0].value);
  };
  EXPECT_TRUE(RatiosAgree(headline(1.25, 0.01, 5), headline(1.265, 0.01, 5)));
  EXPECT_TRUE(RatiosAgree(headline(1.25, 0.001, 150), headline(1.256, 0.001, 150)));
  EXPECT_FALSE(RatiosAgree(headline(1.25, 0.001, 150), headline(1.26, 0.001, 150)));
  EXPECT_TRUE(RatiosAgree(headline(1.25, 0.001, 50), headline(1.26, 0.001, 50)));
  EXPECT_FALSE(RatiosAgree(headline(1.25, 0.001, 5), headline(1.26, 0.001, 5)));
  EXPECT_FALSE(RatiosAgree(headline(1.25, 0.001, 50, "a"), headline(1.25, 0.001, 50, "b")));
}

TEST(HeadlineOf, TakesTheFirstColdTimingAndTrustsNothing) {
  const std::string item =
      R"({"workload": "W", "cold_l2": COLD, "baseline": {"median": 2}, "candidate": {"median": 1},
          "ratio": {"median": 2, "ci95": [1.9, HIGH]}, "percent_of_roofline": -3})";
  const auto with = [&](const char* w, const char* cold, const char* high) {
    std::string text = item;
    text.replace(text.find("W\""), 1, w);
    text.replace(text.find("COLD"), 4, cold);
    return text.replace(text.find("HIGH"), 4, high);
  };
  const Value value = Json("{\"measure\": [" + with("a", "false", "2.1") + "," +
                           with("b", "true", "2.1") + "," + with("c", "true", "2.1") + "]}");
  ASSERT_TRUE(HeadlineOf(value));
  EXPECT_EQ(HeadlineOf(value)->workload, "b");
  EXPECT_TRUE(HeadlineOf(value)->cold_l2);
  EXPECT_FALSE(HeadlineOf(value)->percent_of_roofline);
  for (const char* high : {"null", "-1", "\"x\"", "0", "[]"}) {
    EXPECT_FALSE(HeadlineOf(Json("{\"measure\": [" + with("a", "true", high) + "]}"))) << high;
  }
  for (const char* text :
       {"{}", "[]", R"({"measure": 3})", R"({"measure": []})", R"({"measure": [null]})"}) {
    EXPECT_FALSE(HeadlineOf(Json(text))) << text;
  }
}

TEST(BestValue, HasFiveDigits) {
  const Value best = BestValue(*HeadlineOf(Files({{1.268312, 0.000111, 187.80049}})[0].value));
  EXPECT_EQ(WriteJson(best),
            R"({"gpu":"NVIDIA H200","workload":"n","cold_l2":true,"median_us":187.8,)"
            R"("baseline":"naive","speedup":1.2683,"ci95":[1.2682,1.2684]})");
}

}  // namespace
}  // namespace kb
