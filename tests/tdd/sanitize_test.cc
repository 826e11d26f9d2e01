// What compute-sanitizer's logs say. The logs' lines are those of Compute Sanitizer 2025.3.
#include "tdd/sanitize.h"

#include <gtest/gtest.h>

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

TEST(PlantedFault, EachToolHasOne) {
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    EXPECT_NE(PlantedFault(tool).find("planted"), std::string_view::npos) << tool;
  }
  EXPECT_EQ(PlantedFault("other"), "");
}

}  // namespace
}  // namespace kb
