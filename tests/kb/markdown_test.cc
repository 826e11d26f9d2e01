#include "kb/markdown.h"

#include <gtest/gtest.h>

namespace kb {
namespace {

// "H1 3-3 Title" a block, for short expectations.
std::string Show(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& b : blocks) {
    out += "HPCLQXR"[static_cast<int>(b.type)];
    if (b.type == BlockType::kHeading) out += std::to_string(b.level);
    out += std::to_string(b.first_line) + "-" + std::to_string(b.last_line);
    if (b.unterminated) out += "!";
    out += " ";
  }
  return out;
}

TEST(ParseMarkdown, SaysWhereBlocksAre) {
  const struct {
    const char* text;
    const char* blocks;
  } cases[] = {
      {"", ""},
      {"\n\n", ""},
      {"# A\n\ntext\nmore\n", "H11-1 P3-4 "},
      {"A\n===\ntext", "H11-2 P3-3 "},
      {"```cuda\nx\n```\nafter\n", "C1-3 P4-4 "},
      {"````\n```\n````\n", "C1-3 "},
      {"```\n~~~\nx", "C1-3! "},
      {"```\nx\n``", "C1-3! "},
      {"```", "C1-1! "},
      {"~~~~\nx\n~~~~~  \n", "C1-3 "},
      {"```\nx\n    ```\n", "C1-3! "},
      {"```\nx\n> ```\n", "C1-3! "},
      {"    code\n    ```\n", "C1-2 "},
      {"- a\n  ```\n  x\n  ```\n- b\n\nend\n", "L1-5 C2-4 P7-7 "},
      {"1. a\n\n   ```\n   x\n", "L1-4 C3-4! "},
      {"> ```\n> x\n> ```\n", "Q1-3 C1-3 "},
      {"> ```\n> x\n\ny\n", "Q1-2 C1-2! P4-4 "},
      {"- ```\n  x\n- b\n", "L1-3 C1-2! "},
      {"> - ~~~\n>   x\n>   ~~~\n", "Q1-3 C1-3 "},
      {"<div>\nx\n</div>\n\n---\n", "X1-3 R5-5 "},
      {"a\r\n\r\n# B\r\n", "P1-1 H13-3 "},
      {"a\r\r# B\r", "P1-1 H13-3 "},
  };
  for (const auto& c : cases) EXPECT_EQ(Show(ParseMarkdown(c.text)), c.blocks) << c.text;
}

TEST(ParseMarkdown, GivesPlainTextOfHeadingsAndTheCodeOfFences) {
  const std::vector<Block> blocks =
      ParseMarkdown("# A `b` *c* [d](e)\n```cuda sm_90a\n  x<1>\n\n```\n");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].text, "A b c d");
  EXPECT_EQ(blocks[1].info, "cuda sm_90a");
  EXPECT_EQ(blocks[1].text, "  x<1>\n\n");
}

TEST(ParseMarkdown, AcceptsNulAndBytesThatAreNotUtf8) {
  const std::string text("# A\0B\xFF\n\nx\n", 10);
  EXPECT_EQ(Show(ParseMarkdown(text)), "H11-1 P3-3 ");
}

TEST(ParseMarkdown, ALargeTextIsReadInPiecesWithLinesOfTheWhole) {
  std::string text;
  int lines = 0;
  for (; text.size() < (3u << 20); lines += 4) text += "# heading\n\nsome text of a paragraph\n\n";
  text += "```\n";
  const int fence = ++lines;
  for (; text.size() < (5u << 20); ++lines) text += "code\n";
  text += "```\n## last\n";
  const std::vector<Block> blocks = ParseMarkdown(text);
  ASSERT_GT(blocks.size(), 2u);
  EXPECT_EQ(blocks.back().first_line, lines + 2);
  EXPECT_EQ(blocks.back().text, "last");
  EXPECT_EQ(blocks[blocks.size() - 2].first_line, fence);
  EXPECT_EQ(blocks[blocks.size() - 2].last_line, lines + 1);
  EXPECT_FALSE(blocks[blocks.size() - 2].unterminated);
}

// cmark alone takes minutes for this.
TEST(ParseMarkdown, DeepListsWithManyBlankLinesEndQuickly) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "- ";
  text += "a\n" + std::string(1 << 20, '\n') + "end\n";
  const std::vector<Block> blocks = ParseMarkdown(text);
  ASSERT_FALSE(blocks.empty());
  EXPECT_EQ(blocks.back().first_line, 2 + (1 << 20));
}

TEST(SplitLines, EndsLinesAsCmarkDoes) {
  using Lines = std::vector<std::string_view>;
  EXPECT_EQ(SplitLines(""), Lines{});
  EXPECT_EQ(SplitLines("a"), Lines{"a"});
  EXPECT_EQ(SplitLines("a\n"), Lines{"a"});
  EXPECT_EQ(SplitLines("\n"), Lines{""});
  EXPECT_EQ(SplitLines("a\n\nb\r\nc\rd\r\n"), (Lines{"a", "", "b", "c", "d"}));
  EXPECT_EQ(SplitLines("a\n\rb"), (Lines{"a", "", "b"}));
}

TEST(FirstHeading, PrefersLevelOne) {
  EXPECT_EQ(FirstHeading(ParseMarkdown("## a\n# b\n")), "b");
  EXPECT_EQ(FirstHeading(ParseMarkdown("## a\n### b\n")), "a");
  EXPECT_EQ(FirstHeading(ParseMarkdown("text\n")), "");
}

}  // namespace
}  // namespace kb
