#include "cli/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cli/progress.h"
#include "cli/snippet.h"

namespace kb {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DisplayWidth, CountsCells) {
  struct {
    const char* text;
    int width;
  } const cases[] = {
      {"", 0},  {"abc", 3},      {"größe", 5}, {"e\u0301", 1},  {"漢字", 4},     {"한글", 4},
      {"🚀", 2}, {"a\u200bb", 2}, {"…", 1},     {"\xff\xfe", 2}, {"\xe6\xbc", 2}, {"µs ≥ 12.0", 9},
  };
  for (const auto& c : cases) EXPECT_EQ(DisplayWidth(c.text), c.width) << c.text;
}

TEST(FitWidth, NeverExceedsTheWidthNorCutsACharacter) {
  EXPECT_EQ(FitWidth("abcdef", 6), "abcdef");
  EXPECT_EQ(FitWidth("abcdef", 5), "abcd…");
  EXPECT_EQ(FitWidth("abcdef", 1), "…");
  EXPECT_EQ(FitWidth("abcdef", 0), "");
  EXPECT_EQ(FitWidth("漢字漢字", 5), "漢字…");
  EXPECT_EQ(FitWidth("漢字漢字", 4), "漢…");
  const std::string text = "a漢e\u0301größe\xffz🚀";
  for (int width = 0; width < 16; ++width) EXPECT_LE(DisplayWidth(FitWidth(text, width)), width);
}

TEST(Table, AlignsColumns) {
  Table table({{"#", true}, {"id"}, {"heading"}});
  table.AddRow({"1", "warp", "Reduce > Shuffle"});
  table.AddRow({"10", "漢字", "x"});
  table.AddRow({"2", "a"});
  EXPECT_EQ(table.Draw(),
            " #  id    heading\n"
            " 1  warp  Reduce > Shuffle\n"
            "10  漢字  x\n"
            " 2  a\n");
}

TEST(Table, LeavesOutAnEmptyHeader) {
  Table table({{""}, {""}});
  table.AddRow({"a", "b"});
  EXPECT_EQ(table.Draw(), "a  b\n");
}

TEST(Table, KeepsEscapeSequencesOfForeignTextFromTheTerminal) {
  Table table({{""}});
  table.AddRow(
      {"evil\x1b]0;title\x07\n\x1b[2Jx\xc2\x9b"
       "31m"});
  const std::string text = table.Draw();
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
  EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b")));  // CSI as one character
  EXPECT_EQ(text.find('\n'), text.size() - 1);
}

std::string Snippet(const char* passage, const char* query, int width) {
  return SnippetText(MakeSnippet(passage, query, width), true);
}

constexpr const char kBold[] = "\x1b[1m", kPlain[] = "\x1b[0m";

TEST(Snippet, ShowsTheWindowWithTheMostTermsOfTheQuestion) {
  const char* passage =
      "# Heading with shuffle\n\nOne two three four five six seven eight nine ten.\n"
      "Then the warp reduces with `__shfl_down_sync` in five steps.\n";
  const std::string text = Snippet(passage, "warp __shfl_down_sync", 40);
  EXPECT_THAT(text, HasSubstr(std::string(kBold) + "warp" + kPlain));
  EXPECT_THAT(text, HasSubstr(std::string(kBold) + "`__shfl_down_sync`" + kPlain));
  EXPECT_THAT(text, Not(HasSubstr("One")));
  EXPECT_THAT(text, Not(HasSubstr("Heading")));
}

TEST(Snippet, MatchesPlurals) {
  EXPECT_THAT(Snippet("It has conflicts here.", "conflict", 60),
              HasSubstr(std::string(kBold) + "conflicts" + kPlain));
}

TEST(Snippet, BeginsAtTheStartIfNothingMatches) {
  EXPECT_EQ(Snippet("alpha beta gamma delta", "zzz", 11), "alpha beta");
  EXPECT_EQ(Snippet("alpha beta", "zzz", 80), "alpha beta");
  EXPECT_EQ(Snippet("", "zzz", 80), "");
  EXPECT_EQ(Snippet("# only a heading\n```\n", "zzz", 80), "");
}

TEST(Snippet, FitsItsWidthAndIsPrintable) {
  const std::string hostile = "a \x1b[31mred\x1b[0m word " + std::string(1000, 'x') + " 漢字 end";
  for (int width : {1, 5, 20, 60}) {
    const std::string text = SnippetText(MakeSnippet(hostile, "red word", width), false);
    EXPECT_LE(DisplayWidth(text), width);
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(Snippet, IsQuickOnHugePassages) {
  std::string passage;
  while (passage.size() < (16u << 20)) passage += "reduction of warp ";
  EXPECT_LE(DisplayWidth(SnippetText(MakeSnippet(passage, "warp", 80), false)), 80);
}

TEST(ProgressLine, FitsEightyColumns) {
  EXPECT_EQ(ProgressLine("read", 739, 1477), "read     [##########..........]  50 %  739/1477");
  EXPECT_EQ(ProgressLine("read", 5, 0), "read     5");
  EXPECT_THAT(ProgressLine("train", 9, 3), HasSubstr("100 %"));  // never over
  EXPECT_LE(ProgressLine("a very long phase name", 999999999, 999999999).size(), 80u);
}

TEST(Progress, DrawsOnTerminalsOnlyAndCleansUp) {
  for (const bool terminal : {true, false}) {
    std::ostringstream out, talk;
    Streams streams = {out, talk, terminal, terminal};
    {
      Progress progress(streams, std::chrono::milliseconds(0));
      progress.Show("read", 1, 2);
      progress.Show("read", 2, 2);  // too soon after the first
    }
    const std::string text = talk.str();
    EXPECT_EQ(text.empty(), !terminal);
    if (terminal) {
      EXPECT_THAT(text, HasSubstr("1/2"));
      EXPECT_THAT(text, Not(HasSubstr("2/2")));
      EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
    }
    EXPECT_EQ(out.str(), "");
  }
}

TEST(Progress, IsSilentIfQuietOrSoonDone) {
  std::ostringstream out, talk;
  Streams streams = {out, talk, true, true};
  Progress(streams).Show("read", 1, 2);
  streams.quiet = true;
  Progress(streams, std::chrono::milliseconds(0)).Show("read", 1, 2);
  EXPECT_EQ(talk.str(), "");
}

}  // namespace
}  // namespace kb
