// What compute-sanitizer's logs say, and what the stage makes of them. The logs' lines are those of
// Compute Sanitizer 2025.3.
#include "tdd/sanitize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "kb/file.h"

namespace kb {
namespace {

TEST(ReadSanitizerLog, CountsErrorsAndNamesTheFirst) {
  const SanitizerLog log = ReadSanitizerLog(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at planted+0x80\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n"
      "========= \n"
      "========= ERROR SUMMARY: 64 errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 64);
  EXPECT_EQ(log.first, "Invalid __global__ write of size 4 bytes");
}

TEST(ReadSanitizerLog, RacesAreErrors) {
  const SanitizerLog log = ReadSanitizerLog(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Race reported between Write access at k+0x60 and Read access at k+0x90\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n");
  EXPECT_EQ(log.errors, 1);
  EXPECT_TRUE(log.first.starts_with("Error: Race reported"));
}

TEST(ReadSanitizerLog, SilenceWithASummaryIsClean) {
  const SanitizerLog log =
      ReadSanitizerLog("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.complete);
  EXPECT_EQ(log.errors, 0);
  EXPECT_EQ(log.first, "");
}

TEST(ReadSanitizerLog, ALogThatBreaksOffIsNotClean) {
  for (const char* text : {"", "========= COMPUTE-SANITIZER\n", "no log at all", "========="}) {
    EXPECT_FALSE(ReadSanitizerLog(text).complete) << text;
  }
}

class AnyToolchain : public Toolchain {
 public:
  [[nodiscard]] std::string version() const override { return "any"; }
  [[nodiscard]] CompileResult Compile(const CompileRequest&) const override {
    CompileResult result;
    result.ok = true;
    result.cubin = "cubin";
    return result;
  }
};

// A worker behind a tool that writes `log` when the worker ends, as the real one does.
class LoggedRunner : public Runner {
 public:
  LoggedRunner(std::string path, std::string log) : path_(std::move(path)), log_(std::move(log)) {}
  ~LoggedRunner() override { WriteFileAtomically(path_, log_); }
  [[nodiscard]] const Environment& environment() const override { return environment_; }
  Verdict Load(const Program&) override { return {}; }
  void Unload(int) override {}
  RunReply Run(const RunRequest&) override {
    RunReply reply;
    reply.verdict = {Status::kRuntimeError, "", "the launch failed"};
    return reply;
  }
  MeasureReply Measure(const MeasureRequest&) override { return {}; }
  EnergyReply Energy(const EnergyRequest&) override { return {}; }
  PeaksReply MeasurePeaks() override { return {}; }

 private:
  std::string path_, log_;
  Environment environment_;
};

// The stage with tools that write `log`; `*started` counts workers.
StageReport Sanitize(const std::string& tool, const std::string& log, std::atomic<int>* started) {
  SanitizeOptions options;
  options.tool = tool;
  options.temp = testing::TempDir();
  options.start = [&](const std::vector<std::string>& prefix, const std::vector<std::string>&,
                      Verdict*) {
    ++*started;
    const auto at = std::find(prefix.begin(), prefix.end(), "--log-file");
    return std::make_unique<LoggedRunner>(at[1], log);
  };
  return ProveSanitized(Case(), "/nowhere/judge", Program(), {}, AnyToolchain(), "sm_90a", options);
}

TEST(ProveSanitized, ASilentToolSaysWhatItsLogHas) {
  std::atomic<int> started = 0;
  const Verdict empty = Sanitize("/a/silent-tool", "", &started).verdict;
  EXPECT_EQ(empty.status, Status::kInfraError);
  EXPECT_THAT(empty.message, testing::HasSubstr("its log is empty"));
  EXPECT_THAT(empty.message, testing::HasSubstr("RUNTIME_ERROR: the launch failed"));
  const Verdict broken = Sanitize("/a/silent-tool", "no such option\nmore\n", &started).verdict;
  EXPECT_THAT(broken.message, testing::HasSubstr("\"no such option\" and has no summary"));
  EXPECT_EQ(started, 8);  // what failed is planted again
}

TEST(ProveSanitized, FaultsArePlantedOnceAProcess) {
  std::atomic<int> started = 0;
  const std::string log = "========= Invalid write\n========= ERROR SUMMARY: 1 error\n";
  for (const int workers : {8, 12}) {
    const StageReport stage = Sanitize("/a/tool", log, &started);
    EXPECT_EQ(stage.verdict.status, Status::kSanitizerError) << stage.verdict.message;
    EXPECT_EQ(stage.verdict.message, "Invalid write");
    EXPECT_TRUE(stage.detail["tools"].AsList().at(0)["planted_found"].AsBool());
    EXPECT_EQ(started, workers);
  }
}

TEST(PlantedFault, EachToolHasOne) {
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    EXPECT_NE(PlantedFault(tool).find("planted"), std::string_view::npos) << tool;
  }
  EXPECT_EQ(PlantedFault("other"), "");
}

}  // namespace
}  // namespace kb
