// The program itself: what only a process can show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace kb {
namespace {

using testing::HasSubstr;

struct Shell {
  int exit_code;
  std::string out;
};

// Runs a shell line; `kb` in it is the program under test.
Shell RunShell(const std::string& line) {
  const std::string command = "kb() { '" KB_BINARY "' \"$@\"; }\n" + line;
  FILE* pipe = popen(command.c_str(), "r");
  Shell result = {-1, ""};
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) result.out.append(buffer, n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

class ProcessTest : public CliTest {};

TEST_F(ProcessTest, VersionGoesToStandardOutput) {
  const Shell result = RunShell("kb --version 2>/dev/null");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, std::string("kb ") + kVersion + "\n");
}

TEST_F(ProcessTest, MistakesGoToStandardError) {
  EXPECT_EQ(RunShell("kb serach x 2>/dev/null").out, "");
  const Shell result = RunShell("kb serach x 2>&1");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "kb: unknown command 'serach'; did you mean search? (kb help)\n");
}

TEST_F(ProcessTest, AFullDiskIsSaid) {
  const Shell result = RunShell("kb help 2>&1 >/dev/full");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("kb: cannot write to standard output: No space left"));
}

TEST_F(ProcessTest, AReaderThatHasSeenEnoughEndsItQuietly) {
  std::string text = "# Long\n\n";
  for (int i = 0; i < 200000; ++i) text += "line " + std::to_string(i) + "\n";
  Write("skills/long.md", text);
  ASSERT_EQ(Run({"index", "--embedder", "none"}).exit_code, 0);
  const Shell result =
      RunShell("{ kb get skills/long.md; echo $? >code; } 2>&1 | head -n 1; cat code");
  EXPECT_EQ(result.out, "# Long\n0\n");
}

TEST_F(ProcessTest, BytesReachAPipeUnchanged) {
  const std::string text("# T\n\n\x1b[31m \0 \xff\r\n", 16);
  Write("skills/odd.md", text);
  ASSERT_EQ(Run({"index", "--embedder", "none"}).exit_code, 0);
  EXPECT_EQ(RunShell("kb get skills/odd.md | cmp - skills/odd.md && echo same").out, "same\n");
}

TEST_F(ProcessTest, AnInterruptedIndexLeavesTheOldOne) {
  WriteSkill("old", "Old things. Use when old.", "Call `cudaZeppelin`.\n");
  ASSERT_EQ(RunShell("kb index >/dev/null").exit_code, 0);
  for (int i = 0; i < 300; ++i) {
    WriteSkill("s" + std::to_string(i), "Things. Use when things.",
               "Text " + std::to_string(i * 7919) + " about `cudaZeppelin` and `cudaAirship`.\n");
  }
  // Killed at many moments: whatever is left answers, wholly old or wholly new.
  for (const char* after : {"0.005", "0.02", "0.05", "0.1"}) {
    RunShell(std::string("timeout -s INT ") + after + " '" KB_BINARY "' index >/dev/null 2>&1");
    const Shell result = RunShell("kb search cudaZeppelin -k 1 2>&1");
    EXPECT_EQ(result.exit_code, 0) << after << ": " << result.out;
  }
  EXPECT_EQ(RunShell("kb index >/dev/null && kb search cudaAirship -k 1 >/dev/null").exit_code, 0);
}

}  // namespace
}  // namespace kb
