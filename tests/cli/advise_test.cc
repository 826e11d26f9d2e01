// The bound that each real report was made to have, and what is said when metrics are missing.
#include "cli/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "cli/advise_rules.h"
#include "kb/error.h"
#include "kb/file.h"
#include "tests/cli/cli_fixture.h"

namespace kb {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kData = std::string(KB_SOURCE_DIR) + "/tests/data/ncu/";

std::string ReportText(const std::string& name) {
  std::string why;
  auto text = ReadFile(kData + name, &why);
  EXPECT_TRUE(text.has_value()) << name << ": " << why;
  return text.value_or("");
}

std::string BoundOf(const NcuKernel& kernel) {
  const KernelAdvice advice = Advise(kernel);
  return advice.bound ? advice.bound->rule->bound : "";
}

// What each case was made to be bound by (tests/data/ncu/README.md), and what must be said too.
struct Case {
  const char* kernel;
  const char* bound;
  const char* rule;
  const char* also;  // the id of a rule; ""
};
constexpr Case kRawCases[] = {
    {"copy_strided", "dram", "dram", "uncoalesced-loads"},
    {"copy_float4", "dram", "dram", ""},
    {"transpose_conflict", "shared", "shared", "bank-conflicts"},
    {"transpose_padded", "dram", "dram", ""},
    {"spill_32_registers", "spills", "spills", "l2-write"},
    {"spill_fixed", "fp32", "fp32", ""},
    {"occupancy_shared_200k", "occupancy", "occupancy", "limit-shared-memory"},
    {"occupancy_full", "dram", "dram", ""},
    {"latency_pointer_chase", "latency", "latency-long-scoreboard", "uncoalesced-loads"},
    {"latency_barriers", "latency", "latency-barrier", ""},
    {"compute_fp32", "fp32", "fp32", ""},
    {"compute_fp64", "fp64", "fp64", ""},
    {"compute_special", "special", "special", ""},
    {"compute_integer", "integer", "integer", ""},
    {"issue_mixed", "issue", "issue", "integer"},
    {"tensor_mma_bf16", "tensor", "tensor", ""},
    {"tensor_wgmma_bf16", "tensor", "tensor", "shared"},
    {"atomics_one_address", "atomics", "atomics", ""},
    {"atomics_private", "dram", "dram", ""},
    {"launch_tiny_grid", "launch", "launch-idle-sms", ""},
    {"launch_tail", "launch", "launch-tail", ""},
    {"cache_l2", "l2", "l2-read", ""},
    {"cache_l1_gather", "l1", "l1-tags", "uncoalesced-loads"},
    {"divergence_by_lane", "divergence", "divergence", ""},
    {"divergence_by_warp", "fp32", "fp32", ""},
    {"everyday_saxpy", "dram", "dram", ""},
    {"everyday_matmul_naive", "l1", "", ""},
    {"everyday_matmul_tiled", "shared", "shared", ""},
    {"everyday_softmax", "dram", "dram", ""},
};

TEST(Advise, NamesTheBoundThatEachCaseWasMadeToHave) {
  const NcuReport report = ReadNcuCsv(ReportText("raw.csv"), AdviceMetrics());
  ASSERT_EQ(report.kernels.size(), std::size(kRawCases));
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const Case& want = kRawCases[i];
    const KernelAdvice advice = Advise(report.kernels[i]);
    ASSERT_EQ(report.kernels[i].name, want.kernel);
    ASSERT_TRUE(advice.bound.has_value()) << want.kernel;
    EXPECT_STREQ(advice.bound->rule->bound, want.bound) << want.kernel;
    if (*want.rule != '\0') {
      EXPECT_STREQ(advice.bound->rule->id, want.rule) << want.kernel;
    }
    std::vector<std::string> also;
    for (const Finding& finding : advice.also) also.emplace_back(finding.rule->id);
    if (*want.also != '\0') {
      EXPECT_THAT(also, Contains(want.also)) << want.kernel;
    }
    EXPECT_LE(also.size(), 4u);
    EXPECT_TRUE(advice.unknown.empty()) << want.kernel << ": " << advice.unknown[0].bound;
  }
}

// What was mended is no longer said of the good version.
TEST(Advise, DoesNotSayOfTheGoodVersionWhatItSaysOfTheNaiveOne) {
  const NcuReport report = ReadNcuCsv(ReportText("raw.csv"), AdviceMetrics());
  const std::pair<const char*, const char*> gone[] = {
      {"copy_float4", "uncoalesced-loads"},      {"copy_float4", "uncoalesced-stores"},
      {"transpose_padded", "bank-conflicts"},    {"spill_fixed", "spills"},
      {"occupancy_full", "limit-shared-memory"}, {"atomics_private", "atomics"},
      {"divergence_by_warp", "divergence"},      {"everyday_matmul_tiled", "bank-conflicts"},
  };
  for (const auto& [name, rule] : gone) {
    const auto at = std::find_if(report.kernels.begin(), report.kernels.end(),
                                 [name = name](const NcuKernel& k) { return k.name == name; });
    ASSERT_NE(at, report.kernels.end());
    for (const Finding& finding : Advise(*at).also) EXPECT_STRNE(finding.rule->id, rule) << name;
  }
}

// The details page names units, not pipes or stalls: the bound is as near as it can tell.
TEST(Advise, SaysWhatTheDetailsPageCanTell) {
  const std::map<std::string, std::string> want = {
      {"copy_strided", "dram"},
      {"copy_float4", "dram"},
      {"transpose_conflict", "l1"},
      {"spill_32_registers", "spills"},
      {"occupancy_shared_200k", "occupancy"},
      {"latency_pointer_chase", "latency"},
      {"compute_fp32", "compute"},
      {"tensor_mma_bf16", "compute"},
      {"atomics_one_address", "latency"},
      {"launch_tiny_grid", "launch"},
      {"launch_tail", "launch"},
      {"cache_l2", "l2"},
      {"divergence_by_lane", "divergence"},
  };
  const NcuReport report = ReadNcuCsv(ReportText("details.csv"), AdviceMetrics());
  ASSERT_EQ(report.kernels.size(), want.size());
  for (const NcuKernel& kernel : report.kernels) {
    const KernelAdvice advice = Advise(kernel);
    EXPECT_EQ(BoundOf(kernel), want.at(kernel.name)) << kernel.name;
    std::vector<std::string> unknown;
    for (const Unknown& u : advice.unknown) unknown.push_back(u.bound);
    for (const char* bound : {"shared", "tensor", "fp32", "atomics", "issue"}) {
      EXPECT_THAT(unknown, Contains(bound)) << kernel.name;
    }
    EXPECT_THAT(unknown, Not(Contains("dram"))) << kernel.name;
    EXPECT_THAT(unknown, Not(Contains("latency"))) << kernel.name;
  }
}

NcuKernel KernelWith(const std::map<std::string, double>& metrics) {
  NcuKernel kernel;
  for (const auto& [name, value] : metrics) kernel.metrics[name] = {value, "%"};
  return kernel;
}

constexpr char kSm[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr char kMem[] = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr char kDram[] = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";

TEST(Advise, SaysNothingWithoutMetrics) {
  const NcuKernel kernel;
  const KernelAdvice advice = Advise(kernel);
  EXPECT_FALSE(advice.bound.has_value());
  std::set<std::string> bounds;
  for (const Unknown& unknown : advice.unknown) {
    EXPECT_FALSE(unknown.missing.empty()) << unknown.bound;
    EXPECT_TRUE(bounds.insert(unknown.bound).second) << unknown.bound << " twice";
  }
  EXPECT_EQ(bounds.size(), 18u);
}

TEST(Advise, JudgesLatencyOnlyIfComputeAndMemoryAreKnown) {
  EXPECT_EQ(BoundOf(KernelWith({{kSm, 10}})), "");
  EXPECT_EQ(BoundOf(KernelWith({{kMem, 10}})), "");
  EXPECT_EQ(BoundOf(KernelWith({{kSm, 10}, {kMem, 10}})), "latency");
  EXPECT_EQ(BoundOf(KernelWith({{kSm, 70}, {kMem, 10}})), "compute");
  EXPECT_EQ(BoundOf(KernelWith({{kSm, 10}, {kMem, 70}})), "memory");
  EXPECT_EQ(BoundOf(KernelWith({{kSm, 10}, {kMem, 70}, {kDram, 70}})), "dram");
}

TEST(Advise, HoldsAtTheThresholdAndNotBelowIt) {
  EXPECT_EQ(BoundOf(KernelWith({{kDram, 60}})), "dram");
  EXPECT_EQ(BoundOf(KernelWith({{kDram, 59.99}})), "");
}

// A rule for poor reports is silent where the metrics of the better rules are there.
TEST(Advise, LooksNoFurtherThanTheBetterRule) {
  const char* any = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
  const char* read = "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed";
  EXPECT_EQ(BoundOf(KernelWith({{any, 70}, {kDram, 10}})), "l2");
  EXPECT_EQ(BoundOf(KernelWith({{any, 70}, {kDram, 10}, {read, 10}})), "");
}

// 0 / 0 is no evidence: neither "at least" nor "less than" holds.
TEST(Advise, TakesNoQuotientOfNothing) {
  const NcuKernel kernel = KernelWith({{"sm__cycles_active.avg", 0},
                                       {"gpc__cycles_elapsed.max", 0},
                                       {"launch__waves_per_multiprocessor", 0.5},
                                       {kMem, 1}});
  EXPECT_EQ(BoundOf(kernel), "");
  for (const Unknown& unknown : Advise(kernel).unknown) EXPECT_NE(unknown.bound, "launch");
}

TEST(AdviceRules, AreSound) {
  std::set<std::string> ids;
  const std::set<std::string> bounds = {"dram",   "l2",        "l1",         "shared",  "memory",
                                        "fp32",   "fp64",      "special",    "integer", "tensor",
                                        "issue",  "compute",   "divergence", "atomics", "spills",
                                        "launch", "occupancy", "latency"};
  for (const auto table : {ObstacleRules(), UnitRules(), LatencyRules(), ContributingRules()}) {
    for (const AdviceRule& rule : table) {
      EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " twice";
      EXPECT_EQ(rule.rank == kContributes, *rule.bound == '\0') << rule.id;
      EXPECT_TRUE(*rule.bound == '\0' || bounds.contains(rule.bound)) << rule.id;
      EXPECT_NE(rule.conditions[0].metric, nullptr) << rule.id;
      EXPECT_EQ(rule.conditions[std::size(rule.conditions) - 1].metric, nullptr)
          << rule.id << ": no room left, one more would be lost";
      EXPECT_NE(rule.skills[0], nullptr) << rule.id;
      for (const char* text : {rule.says, rule.advice}) {
        EXPECT_TRUE(std::strlen(text) > 0 && text[std::strlen(text) - 1] == '.') << rule.id;
      }
      const std::string source = rule.source;
      EXPECT_TRUE(source.find("Nsight Compute") != std::string::npos ||
                  source.find("measured, tests/data/ncu") != std::string::npos)
          << rule.id << ": " << source;
      std::istringstream with(rule.with);
      for (std::string word; with >> word;) EXPECT_TRUE(bounds.contains(word)) << rule.id << word;
    }
  }
}

TEST(AdviceRules, NameSkillsThatAreShipped) {
  for (const auto table : {ObstacleRules(), UnitRules(), LatencyRules(), ContributingRules()}) {
    for (const AdviceRule& rule : table) {
      for (const char* skill : rule.skills) {
        if (skill == nullptr) continue;
        EXPECT_TRUE(std::filesystem::exists(std::string(KB_SOURCE_DIR) + "/skills/" + skill))
            << rule.id << ": " << skill;
      }
    }
  }
}

// A metric that no real report has would make its rule silent for ever.
TEST(AdviceRules, ReadMetricsThatRealReportsHave) {
  const NcuReport report = ReadNcuCsv(ReportText("raw.csv"), AdviceMetrics());
  for (const std::string_view metric : AdviceMetrics()) {
    EXPECT_TRUE(report.kernels[0].Number(metric).has_value()) << metric;
  }
}

class AdviseCommand : public CliTest {};

TEST_F(AdviseCommand, NamesSkillsWithoutAnIndexAndSaysSo) {
  const Result result = Run({"advise", "--ncu", kData + "raw.csv", "--json"});
  EXPECT_EQ(result.exit_code, kFound) << result.talk;
  EXPECT_THAT(result.talk, HasSubstr("nothing is indexed"));
  const Value json = result.Json();
  EXPECT_EQ(json["page"].AsString(), "raw");
  EXPECT_FALSE(json["index"].AsBool(true));
  ASSERT_EQ(json["kernels"].AsList().size(), std::size(kRawCases));
  const Value& kernel = json["kernels"].AsList()[2];
  EXPECT_EQ(kernel["name"].AsString(), "transpose_conflict");
  EXPECT_EQ(kernel["bound"].AsString(), "shared");
  EXPECT_NEAR(kernel["duration_s"].AsDouble(), 336e-6, 1e-6);
  EXPECT_EQ(kernel["finding"]["rule"].AsString(), "shared");
  EXPECT_EQ(kernel["finding"]["evidence"].AsList()[0]["op"].AsString(), ">=");
  const Value& skill = kernel["skills"].AsList()[0];
  EXPECT_EQ(skill["id"].AsString(), "shared-memory-banks");
  EXPECT_FALSE(skill["found"].AsBool(true));
  EXPECT_TRUE(skill["command"].IsNull());
  EXPECT_TRUE(kernel["entries"].AsList().empty());
}

TEST_F(AdviseCommand, LooksSkillsAndEntriesUpInTheIndex) {
  WriteSkill("shared-memory-banks", "Bank conflicts of shared memory, padding and swizzle.",
             "## Idea\nPad the rows of a shared memory tile.\n");
  WriteSkill("our-padding-notes", "Kernels bound by L1 or shared memory throughput: what we tried.",
             "## Idea\nBank conflicts: pad shared memory rows.\n");
  ASSERT_EQ(Run({"index", "skills"}).exit_code, kFound);
  const Result result = Run({"advise", "--ncu", kData + "details_whole.csv", "--json"});
  ASSERT_EQ(result.exit_code, kFound) << result.talk;
  EXPECT_EQ(result.talk, "");
  const Value json = result.Json();
  EXPECT_TRUE(json["index"].AsBool());
  const Value& kernel = json["kernels"].AsList()[0];
  EXPECT_EQ(kernel["bound"].AsString(), "l1");
  EXPECT_EQ(kernel["skills"].AsList()[0]["command"].AsString(), "kb get shared-memory-banks");
  EXPECT_FALSE(kernel["skills"].AsList()[1]["found"].AsBool(true));
  ASSERT_EQ(kernel["entries"].AsList().size(), 1u);
  EXPECT_EQ(kernel["entries"].AsList()[0]["command"].AsString(), "kb get our-padding-notes");
  const Result text = Run({"advise", "--ncu", kData + "details_whole.csv"});
  EXPECT_THAT(text.out, HasSubstr("kb get shared-memory-banks\n"));
  EXPECT_THAT(text.out, HasSubstr("kb get our-padding-notes  (skill: our-padding-notes)\n"));
}

TEST_F(AdviseCommand, WritesABlockAKernel) {
  const std::string raw = ReportText("raw.csv");
  const size_t third = raw.find("\"transpose_padded\"");
  Write("one.csv", raw.substr(0, raw.find('\n', raw.find('\n') + 1) + 1) +
                       raw.substr(raw.rfind('\n', raw.find("\"transpose_conflict\"")) + 1,
                                  raw.rfind('\n', third) -
                                      raw.rfind('\n', raw.find("\"transpose_conflict\""))));
  const Result result = Run({"advise", "--ncu", "one.csv", "--quiet"});
  EXPECT_EQ(result.exit_code, kFound);
  EXPECT_EQ(result.talk, "");
  EXPECT_EQ(result.out, ReportText("transpose_conflict.txt"));
}

TEST_F(AdviseCommand, ChoosesTheLongestKernels) {
  const Value json = Run({"advise", "--ncu", kData + "raw.csv", "--json", "--longest", "2"}).Json();
  ASSERT_EQ(json["kernels"].AsList().size(), 2u);
  EXPECT_EQ(json["kernels"].AsList()[0]["name"].AsString(), "spill_32_registers");
  EXPECT_EQ(json["kernels"].AsList()[1]["name"].AsString(), "atomics_one_address");
  EXPECT_EQ(json["left_out"].AsInt(), 27);
}

TEST_F(AdviseCommand, ExitsWithOneIfTheReportDoesNotTell) {
  Write("poor.csv", "ID,Kernel Name,launch__grid_size\n0,f,5\n");
  const Result result = Run({"advise", "--ncu", "poor.csv", "--quiet"});
  EXPECT_EQ(result.exit_code, kNothing);
  EXPECT_THAT(result.out, HasSubstr("cannot be told from this report"));
  EXPECT_THAT(result.out, HasSubstr("metrics are missing"));
}

TEST_F(AdviseCommand, ExitsWithTwoOnABrokenFile) {
  Write("broken.csv", "\"ID\",\"Kernel Name\"\n\"0\",\"f");
  const std::pair<std::vector<std::string>, const char*> table[] = {
      {{"advise", "--ncu", "broken.csv"}, "line 2: a quoted cell has no end"},
      {{"advise", "--ncu", "missing.csv"}, "cannot read missing.csv"},
      {{"advise", "--ncu", "."}, "cannot read ."},
      {{"advise"}, "which report?"},
  };
  for (const auto& [words, says] : table) {
    const Result result = Run(words);
    EXPECT_EQ(result.exit_code, kCouldNot);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.talk, HasSubstr(says));
    EXPECT_EQ(std::count(result.talk.begin(), result.talk.end(), '\n'), 1) << result.talk;
  }
}

// A name from a report cannot write to the terminal or pass for another line.
TEST_F(AdviseCommand, EscapesWhatAReportSays) {
  Write("evil.csv", "ID,Kernel Name,\"" + std::string(kDram) + "\"\n0,\"f\x1b[2J\nbound\",70\n");
  const Result result = Run({"advise", "--ncu", "evil.csv", "--quiet"});
  EXPECT_EQ(result.exit_code, kFound);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_THAT(result.out, ::testing::StartsWith("f\\x1B[2J\\x0Abound"));
}

}  // namespace
}  // namespace kb
