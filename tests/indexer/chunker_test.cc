#include "indexer/chunker.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <random>

#include "kb/markdown.h"
#include "kb/sha256.h"

namespace kb {
namespace {

std::string Words(int count, const std::string& word = "word") {
  std::string text;
  for (int i = 0; i < count; ++i) text += word + (i % 12 == 11 ? "\n" : " ");
  return text + "\n\n";
}

int CountWords(std::string_view text) {
  int words = 0;
  bool inside = false;
  for (char c : text) {
    const bool space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    words += !space && !inside;
    inside = !space;
  }
  return words;
}

struct Split {
  Document document;
  std::vector<Chunk> chunks;
  [[nodiscard]] std::string_view Text(size_t i) const {
    return std::string_view(document.text).substr(chunks[i].begin, chunks[i].end - chunks[i].begin);
  }
  [[nodiscard]] std::vector<std::string> Headings() const {
    std::vector<std::string> headings;
    for (const Chunk& chunk : chunks) headings.push_back(chunk.heading);
    return headings;
  }
};

Split Of(std::string text, std::string_view path = "notes/page.md") {
  Split split;
  split.document = ParseDocument(path, std::move(text));
  split.chunks = SplitDocument(split.document);
  return split;
}

// What holds for every document.
void ExpectWhole(const Split& split) {
  const Document& document = split.document;
  ASSERT_FALSE(split.chunks.empty());
  int64_t at = static_cast<int64_t>(document.text.size() - document.body.size());
  int line = 0;
  for (size_t i = 0; i < split.chunks.size(); ++i) {
    const Chunk& chunk = split.chunks[i];
    ASSERT_EQ(chunk.begin, at);
    ASSERT_GE(chunk.end, chunk.begin);
    ASSERT_TRUE(chunk.end > chunk.begin || document.body.empty());
    at = chunk.end;
    EXPECT_GE(chunk.first_line, document.body_line);
    EXPECT_GE(chunk.first_line, line);
    EXPECT_GE(chunk.last_line, chunk.first_line);
    line = chunk.last_line;
    const std::string text(split.Text(i));
    EXPECT_EQ(chunk.id, Sha256(chunk.heading + "\n" + text).substr(0, 8));
    const bool cut_utf8 =
        chunk.begin > 0 && !text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0) == 0x80;
    EXPECT_FALSE(cut_utf8) << i;
  }
  ASSERT_EQ(at, static_cast<int64_t>(document.text.size()));
}

TEST(SplitDocument, BodylessDocumentHasOneEmptyChunk) {
  for (const char* text : {"", "---\nname: x\n---\n"}) {
    const Split split = Of(text);
    ASSERT_EQ(split.chunks.size(), 1u);
    EXPECT_EQ(split.chunks[0].begin, split.chunks[0].end);
    EXPECT_EQ(split.chunks[0].heading, "");
    EXPECT_EQ(split.chunks[0].id, Sha256("\n").substr(0, 8));
    ExpectWhole(split);
  }
}

TEST(SplitDocument, ShortDocumentIsOneChunkWithItsFileLines) {
  const Split split = Of("---\nname: tma\n---\n# TMA\n\nLoad a tile.\n");
  ASSERT_EQ(split.chunks.size(), 1u);
  EXPECT_EQ(split.Text(0), "# TMA\n\nLoad a tile.\n");
  EXPECT_EQ(split.chunks[0].first_line, 4);
  EXPECT_EQ(split.chunks[0].last_line, 6);
  ExpectWhole(split);
}

TEST(SplitDocument, CutsAtHeadingsWithTheirPath) {
  const Split split = Of("# Guide\n\n" + Words(200) + "## Loads\n\n" + Words(200) + "### TMA\n\n" +
                         Words(200) + "## Stores\n\n" + Words(200) + "# Appendix\n\n" + Words(200));
  EXPECT_EQ(split.Headings(),
            (std::vector<std::string>{"", "Loads", "Loads > TMA", "Stores", "Appendix"}));
  EXPECT_EQ(split.Text(2).substr(0, 8), "### TMA\n");
  ExpectWhole(split);
}

TEST(SplitDocument, TitleIsLeftOutOfThePathHoweverWritten) {
  const std::string body = "# Warp Shuffle: Guide\n\n" + Words(10) + "## Use\n\n" + Words(300);
  const std::string front = "---\nname: warp-shuffle-guide\ndescription: d\n---\n";
  EXPECT_EQ(Of(front + body, "skills/warp-shuffle-guide/SKILL.md").Headings(),
            (std::vector<std::string>{"Use"}));
  const std::string other = "---\nname: reductions\ndescription: d\n---\n";
  EXPECT_EQ(Of(other + body, "skills/reductions/SKILL.md").Headings(),
            (std::vector<std::string>{"Warp Shuffle: Guide > Use"}));
}

TEST(SplitDocument, SmallNeighboursUnderOneParentAreJoined) {
  const Split split = Of("# T\n\n## A\n\n" + Words(160) + "## B\n\n### C\n\n" + Words(60) +
                         "### D\n\n" + Words(60) + "## E\n\n" + Words(300));
  EXPECT_EQ(split.Headings(), (std::vector<std::string>{"A; B > C; B > D", "E"}));
  ExpectWhole(split);
}

TEST(SplitDocument, SmallSectionsUnderOtherParentsAreNot) {
  const Split split = Of("# T\n\n## A\n\n" + Words(330) + "### B\n\n" + Words(60) + "## C\n\n" +
                         Words(60) + "## D\n\n" + Words(60));
  EXPECT_EQ(split.Headings(), (std::vector<std::string>{"A", "A > B", "C; D"}));
  ExpectWhole(split);
}

TEST(SplitDocument, BareHeadingGoesWithItsFirstChild) {
  const Split split = Of("# T\n\n## A\n\n### B\n\n" + Words(600));
  for (const std::string& heading : split.Headings()) EXPECT_EQ(heading, "A > B");
  EXPECT_EQ(split.chunks.size(), 2u);
  ExpectWhole(split);
}

TEST(SplitDocument, LargeSectionIsCutAtBlocksIntoEvenParts) {
  std::string text = "# T\n\n## A\n\n";
  for (int i = 0; i < 20; ++i) text += Words(50);
  const Split split = Of(text);
  ExpectWhole(split);
  EXPECT_GE(split.chunks.size(), 3u);
  EXPECT_LE(split.chunks.size(), 4u);
  for (size_t i = 0; i < split.chunks.size(); ++i) {
    EXPECT_LE(CountWords(split.Text(i)), 350);
    EXPECT_GE(CountWords(split.Text(i)), 150);
    EXPECT_TRUE(split.Text(i).ends_with("\n\n")) << "a paragraph was cut";
  }
}

TEST(SplitDocument, FencesAreNeverSplit) {
  for (const char* indent : {"", "  "}) {
    std::string fence = std::string(indent) + "```cuda\n";
    for (int i = 0; i < 400; ++i) fence += std::string(indent) + "x = y;\n\n";
    fence += std::string(indent) + "```\n";
    const Split split = Of("# T\n\n" + Words(200) + "- item\n\n" + fence + "\n" + Words(200));
    ExpectWhole(split);
    int holders = 0;
    for (size_t i = 0; i < split.chunks.size(); ++i) {
      holders += split.Text(i).find(fence) != std::string_view::npos;
    }
    EXPECT_EQ(holders, 1) << "indent '" << indent << "'";
  }
}

TEST(SplitDocument, HashInAFenceIsNoHeading) {
  const Split split = Of("## A\n\n```sh\n# comment\n" + Words(400) + "```\n");
  EXPECT_EQ(split.chunks.size(), 1u);
}

TEST(SplitDocument, GiantListIsCutAtItems) {
  std::string text = "# T\n\n";
  for (int i = 0; i < 100; ++i)
    text += "- first line of nine words in this very item\n  and more\n";
  const Split split = Of(text);
  ExpectWhole(split);
  EXPECT_GE(split.chunks.size(), 4u);
  for (size_t i = 1; i < split.chunks.size(); ++i) EXPECT_EQ(split.Text(i)[0], '-');
}

TEST(SplitDocument, GiantTableIsCutAtRows) {
  std::string text = "# T\n\n| a | b |\n|---|---|\n";
  for (int i = 0; i < 300; ++i) text += "| one two | three four |\n";
  const Split split = Of(text);
  ExpectWhole(split);
  EXPECT_GE(split.chunks.size(), 5u);
  for (size_t i = 1; i < split.chunks.size(); ++i) EXPECT_EQ(split.Text(i).substr(0, 5), "| one");
}

TEST(SplitDocument, GiantLineIsCutAtSpaces) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "größe ";
  const Split split = Of(text);
  ExpectWhole(split);
  EXPECT_GE(split.chunks.size(), 5u);
  for (size_t i = 0; i < split.chunks.size(); ++i) {
    EXPECT_EQ(split.Text(i).substr(0, 2), "gr");
    EXPECT_LE(CountWords(split.Text(i)), 350);
  }
}

TEST(SplitDocument, GiantWordIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "核";
  const Split split = Of(text);
  ExpectWhole(split);
  EXPECT_GE(split.chunks.size(), 5u);
  EXPECT_LE(split.chunks.size(), 20u);
}

TEST(SplitDocument, LinkDefinitionsAreCutAlthoughTheyAreNoBlocks) {
  std::string links;
  for (int i = 0; i < 1000; ++i) links += "[a" + std::to_string(i) + "]: u\n";
  for (const char* before : {"", "# T\n\n", "text\n\n", "```\ncode\n```\n"}) {
    const Split split = Of(before + links);
    ExpectWhole(split);
    EXPECT_GE(split.chunks.size(), 5u) << before;
    EXPECT_GE(Of(links + "\n" + before).chunks.size(), 5u) << before;
  }
}

TEST(SplitDocument, LineEndsOfAllKindsAreKept) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    std::string text = std::string("# T") + end + end + "## A" + end;
    for (int i = 0; i < 100; ++i) text += std::string("some words on a line of text") + end;
    text += std::string("## B") + end + "last";
    const Split split = Of(text);
    ExpectWhole(split);
    EXPECT_GE(split.chunks.size(), 3u);
    EXPECT_EQ(split.chunks.back().last_line, 105);
  }
}

TEST(SplitDocument, HeadingPathsAreBounded) {
  const std::string giant(1 << 16, 'h');
  std::string text;
  for (int i = 1; i <= 6; ++i) text += std::string(i, '#') + ' ' + giant + "\n\n" + Words(200);
  for (const std::string& heading : Of(text).Headings()) EXPECT_LE(heading.size(), 1024u);
}

std::string RandomMarkdown(std::mt19937& random) {
  const std::function<std::string()> parts[] = {
      [&] {
        return std::string(1 + random() % 6, '#') + " Heading " + std::to_string(random() % 9) +
               "\n";
      },
      [&] { return Words(int(random() % 200)); },
      [&] { return "```\n" + Words(int(random() % 400)) + "```\n"; },
      [&] { return "- item\n\n  ~~~\n  code\n\n  ~~~\n- next\n"; },
      [&] { return "> quote " + Words(int(random() % 30)); },
      [&] { return std::string("<div>\nx\n</div>\n\n"); },
      [&] { return std::string("    indented\n\n"); },
      [&] { return std::string("Title\n===\n"); },
      [&] { return std::string("\n\n \t\n"); },
      [&] { return std::string("\xe6\xa0\xb8\xff\x80\0x", 7) + "\r\n"; },
      [&] { return std::string("---\n"); },
      [&] { return std::string("``` unterminated\n"); },
  };
  std::string text;
  for (size_t i = random() % 30; i > 0; --i) text += parts[random() % std::size(parts)]();
  return text;
}

TEST(SplitDocument, RangesJoinToTheBodyForRandomDocuments) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::string text = RandomMarkdown(random);
    const Split split = Of(text);
    ASSERT_NO_FATAL_FAILURE(ExpectWhole(split)) << text;
    const auto lines = SplitLines(split.document.body);
    for (const Block& block : split.document.blocks) {
      if (block.type != BlockType::kCode || block.info.empty()) continue;
      const int64_t begin = lines[block.first_line - 1].data() - split.document.text.data();
      const int64_t last = lines[block.last_line - 1].data() - split.document.text.data();
      for (const Chunk& chunk : split.chunks) {
        EXPECT_EQ(chunk.begin <= begin && begin < chunk.end,
                  chunk.begin <= last && last < chunk.end);
      }
    }
  }
}

TEST(SplitDocument, TimeIsLinear) {
  const std::string hostile[] = {"# a\n",        "#\n\n", "- a\n",
                                 "x ",           "x",     "| a | b |\n",
                                 "```\n\n```\n", "a\n\n", "###### b\n# c\n"};
  for (const std::string& part : hostile) {
    Split split;
    std::string text;
    while (text.size() < (1u << 20)) text += part;
    split.document = ParseDocument("page.md", text);
    const auto before = std::chrono::steady_clock::now();
    split.chunks = SplitDocument(split.document);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - before;
    EXPECT_LT(took.count(), 5) << part;  // 0.1 s or less; a quadratic one takes minutes
    ASSERT_NO_FATAL_FAILURE(ExpectWhole(split)) << part;
  }
}

}  // namespace
}  // namespace kb
