// The block structure of a Markdown text (CommonMark, by cmark). The only place
// that includes cmark. Says where blocks are; never changes the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

enum class BlockType { kHeading, kParagraph, kCode, kList, kQuote, kHtml, kRule };

// A top-level block. Lines are 1-based and inclusive, in the text given.
struct Block {
  BlockType type = BlockType::kParagraph;
  int first_line = 0;
  int last_line = 0;
  int level = 0;              // kHeading: 1..6
  std::string text;           // kHeading: its plain text; kCode: the code; else ""
  std::string info;           // kCode: the info string, e.g. "cuda sm_90a"
  bool unterminated = false;  // kCode: the closing fence is missing
};

// The top-level blocks in order; fences inside lists and quotes are listed too,
// after the block that holds them, as kCode. Bytes that are not UTF-8 and NULs are
// accepted. A text over 1 MiB is parsed in pieces, between blank lines where there are any,
// so a block that runs on from one piece to the next is listed as two.
[[nodiscard]] std::vector<Block> ParseMarkdown(std::string_view text);

// The lines of a text: "\n", "\r\n" or a lone "\r" end a line (as cmark does).
[[nodiscard]] std::vector<std::string_view> SplitLines(std::string_view text);

// "# Title" for each heading is the caller's business; this gives the first level-1
// heading's text, or the first heading's, or "".
[[nodiscard]] std::string FirstHeading(const std::vector<Block>& blocks);

}  // namespace kb
