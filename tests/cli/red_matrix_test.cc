#include "cli/red_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/table.h"
#include "kb/json.h"

namespace kb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Value Red() {
  return *ParseJson(R"x({"score": 0.75, "builtin_score": 1.0, "source_score": 0.5, "threshold": 0.9,
    "tests": ["T.Sums", "T.Tail", "T.Nothing"], "findings": ["one thing was found"],
    "mutants": [
      {"name": "zeros", "kind": "builtin", "status": "killed", "killed_by": ["T.Sums", "T.Tail"]},
      {"name": "comparison:12:8", "kind": "source", "line": 12, "status": "survived",
       "killed_by": [], "diff": "-  if (i < n)\n+  if (i <= n)"},
      {"name": "dropped-guard:12:4", "status": "killed", "killed_by": ["runtime"]},
      {"name": "constant:3:4", "status": "killed", "killed_by": ["T.Tail"]},
      {"name": "arithmetic:9:1", "status": "declared-equivalent", "killed_by": [],
       "note": "never\nreached", "diff": "-a\n+b"},
      {"name": "arithmetic:10:1", "status": "not compiled", "killed_by": []},
      {"name": "arithmetic:11:1", "status": "equivalent", "killed_by": []}]
})x");
}

TEST(DrawKillMatrix, SaysWhichTestRejectsWhichMutant) {
  EXPECT_EQ(DrawKillMatrix(Red(), 0),
            "   TEST\n"
            "1  T.Sums     kills 1\n"
            "2  T.Tail     kills 2\n"
            "3  T.Nothing  kills nothing\n"
            "\n"
            "MUTANT              123\n"
            "zeros               ##.  killed\n"
            "comparison:12:8     ...  SURVIVED\n"
            "dropped-guard:12:4  ...  killed: runtime\n"
            "constant:3:4        .#.  killed\n"
            "arithmetic:9:1      ...  declared-equivalent\n"
            "arithmetic:11:1     ...  equivalent\n"
            "\n"
            "survived: comparison:12:8\n"
            "  -  if (i < n)\n"
            "  +  if (i <= n)\n"
            "\n"
            "declared equivalent: arithmetic:9:1: never\\x0Areached\n"
            "  -a\n"
            "  +b\n"
            "\n"
            "3 of 4 wrong kernels rejected, 1 equivalent, 1 declared-equivalent, 1 not compiled\n"
            "score 0.75, needed 0.90 (built in 1.00, source 0.50)\n"
            "one thing was found\n");
}

TEST(DrawKillMatrix, FitsTheTerminal) {
  for (int columns : {10, 40, 79}) {
    const std::string text = DrawKillMatrix(Red(), columns);
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      EXPECT_LE(DisplayWidth(text.substr(at, end - at)), columns);
      at = end + 1;
    }
  }
}

TEST(DrawKillMatrix, OtherShapesAreTaken) {
  EXPECT_EQ(DrawKillMatrix({}, 80), "");
  EXPECT_EQ(DrawKillMatrix(*ParseJson(R"({"mutants": []})"), 80), "");
  EXPECT_THAT(
      DrawKillMatrix(*ParseJson(R"({"mutants": [3, {"status": "killed"}], "tests": 4})"), 80),
      HasSubstr("1 of 1"));
  EXPECT_THAT(DrawKillMatrix(Red(), 80), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace kb
