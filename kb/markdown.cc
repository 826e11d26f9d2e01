#include "kb/markdown.h"

#include <cmark.h>

#include <algorithm>
#include <memory>
#include <span>

namespace kb {
namespace {

struct NodeDeleter {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
struct IterDeleter {
  void operator()(cmark_iter* iter) const { cmark_iter_free(iter); }
};
using NodePtr = std::unique_ptr<cmark_node, NodeDeleter>;
using IterPtr = std::unique_ptr<cmark_iter, IterDeleter>;

std::string Text(const char* text) { return text != nullptr ? text : ""; }

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

BlockType TypeOf(cmark_node* node) {
  switch (cmark_node_get_type(node)) {
    case CMARK_NODE_HEADING:
      return BlockType::kHeading;
    case CMARK_NODE_CODE_BLOCK:
      return BlockType::kCode;
    case CMARK_NODE_LIST:
      return BlockType::kList;
    case CMARK_NODE_BLOCK_QUOTE:
      return BlockType::kQuote;
    case CMARK_NODE_HTML_BLOCK:
      return BlockType::kHtml;
    case CMARK_NODE_THEMATIC_BREAK:
      return BlockType::kRule;
    default:
      return BlockType::kParagraph;
  }
}

// The text of all inline nodes; a line break becomes a space.
std::string PlainText(cmark_node* heading) {
  std::string text;
  const IterPtr iter(cmark_iter_new(heading));
  for (cmark_event_type event; (event = cmark_iter_next(iter.get())) != CMARK_EVENT_DONE;) {
    if (event != CMARK_EVENT_ENTER) continue;
    cmark_node* node = cmark_iter_get_node(iter.get());
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_TEXT:
      case CMARK_NODE_CODE:
        text += Text(cmark_node_get_literal(node));
        break;
      case CMARK_NODE_SOFTBREAK:
      case CMARK_NODE_LINEBREAK:
        text += ' ';
        break;
      default:
        break;
    }
  }
  return text;
}

// The fence at the start of a line, after list and quote markers: "```", "~~~~"; or "".
std::string_view FenceOf(std::string_view line) {
  const size_t start = line.find_first_of("`~");
  if (start == std::string_view::npos) return {};
  const size_t end = line.find_first_not_of(line[start], start);
  return line.substr(start, end == std::string_view::npos ? end : end - start);
}

// Whether `line` closes the fence `open`: at least as long, nothing after it. `holder`: what
// stands before the opening fence on its line, the marks of the blocks that hold it.
bool ClosesFence(std::string_view line, std::string_view open, std::string_view holder) {
  const bool quoted = holder.find('>') != std::string_view::npos;
  const size_t start = line.find_first_not_of(quoted ? " \t>" : " \t");
  if (start == std::string_view::npos) return false;
  const bool top_level = holder.find_first_not_of(' ') == std::string_view::npos;
  if (top_level && start > 3) return false;
  line.remove_prefix(start);
  const size_t end = std::min(line.find_first_not_of(open[0]), line.size());
  return end >= open.size() && line.find_first_not_of(" \t", end) == std::string_view::npos;
}

// cmark has no accessor for this, so the source is asked.
bool IsUnterminated(const Block& block, std::span<const std::string_view> lines, int start_column) {
  const std::string_view line = lines[static_cast<size_t>(block.first_line - 1)];
  const size_t column = std::min(line.size(), static_cast<size_t>(std::max(start_column - 1, 0)));
  const std::string_view first = line.substr(column);
  const std::string_view open = FenceOf(first);
  if (open.size() < 3) return false;  // an indented block
  return block.last_line == block.first_line ||
         !ClosesFence(lines[static_cast<size_t>(block.last_line - 1)], open,
                      line.substr(0, column));
}

// `limit`: the last line that the block can have. cmark's own end is one line too far for
// setext headings and for fences that their holder ends.
Block MakeBlock(cmark_node* node, std::span<const std::string_view> lines, int limit) {
  Block block;
  block.type = TypeOf(node);
  block.first_line = std::clamp(cmark_node_get_start_line(node), 1, limit);
  block.last_line = std::clamp(cmark_node_get_end_line(node), block.first_line, limit);
  while (block.type != BlockType::kCode && block.last_line > block.first_line &&
         IsBlank(lines[static_cast<size_t>(block.last_line - 1)])) {
    --block.last_line;
  }
  if (block.type == BlockType::kHeading) {
    block.level = cmark_node_get_heading_level(node);
    block.text = PlainText(node);
  } else if (block.type == BlockType::kCode) {
    block.text = Text(cmark_node_get_literal(node));
    block.info = Text(cmark_node_get_fence_info(node));
    block.unterminated = IsUnterminated(block, lines, cmark_node_get_start_column(node));
  }
  return block;
}

void AddNestedCode(cmark_node* holder, int holder_end, std::span<const std::string_view> lines,
                   std::vector<Block>& blocks) {
  const IterPtr iter(cmark_iter_new(holder));
  for (cmark_event_type event; (event = cmark_iter_next(iter.get())) != CMARK_EVENT_DONE;) {
    cmark_node* node = cmark_iter_get_node(iter.get());
    if (event != CMARK_EVENT_ENTER || cmark_node_get_type(node) != CMARK_NODE_CODE_BLOCK) continue;
    const int start = std::clamp(cmark_node_get_start_line(node), 1, holder_end);
    const int parent_end = cmark_node_get_end_line(cmark_node_parent(node));
    blocks.push_back(MakeBlock(node, lines, std::clamp(parent_end, start, holder_end)));
  }
}

// cmark takes 200 bytes and 0.6 us for each byte of a hostile paragraph, and walks all open
// lists for each blank line (1 MiB of "- - -" and blank lines: hours). So a text is parsed
// in pieces: of 1 MiB, 4 MiB where a fence is open, and none has 64 blank lines in a row
// below something that may be nested deeply. Common documents are one piece.
constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kFenceBytes = 4 << 20;

class PieceCutter {
 public:
  PieceCutter(const std::vector<std::string_view>& lines, size_t begin)
      : lines_(lines), begin_(begin) {}

  // The index after the last line of the piece.
  size_t End() {
    size_t last_blank = begin_;  // the last one outside fences
    for (size_t i = begin_; i < lines_.size(); ++i) {
      const bool blank = IsBlank(lines_[i]);
      blank_run_ = blank ? blank_run_ + 1 : 0;
      if (deep_ && blank_run_ > kMaxBlankLines) return i;
      if (blank && open_.empty()) last_blank = i;
      if (!blank) ReadLine(lines_[i]);
      const size_t size = lines_[i].data() + lines_[i].size() - lines_[begin_].data();
      if (size > (open_.empty() ? kPieceBytes : kFenceBytes)) {
        return last_blank > begin_ ? last_blank : i + 1;
      }
    }
    return lines_.size();
  }

 private:
  static constexpr int kMaxBlankLines = 64;
  static constexpr int kDeep = 16;  // marks of lists and quotes before the text of a line
  static constexpr size_t kDeepIndent = 32;

  void ReadLine(std::string_view line) {
    const size_t start = line.find_first_not_of(" \t>-+*0123456789.)");
    const std::string_view prefix = line.substr(0, start);
    const auto is_mark = [](char c) { return c != ' ' && c != '\t' && (c < '0' || c > '9'); };
    const size_t indent = line.find_first_not_of(" \t");
    deep_ = deep_ || indent > kDeepIndent ||
            std::count_if(prefix.begin(), prefix.end(), is_mark) > kDeep;
    if (!open_.empty()) {
      if (ClosesFence(line, open_, "")) open_ = {};
    } else if (indent < 4 && (line[indent] == '`' || line[indent] == '~')) {
      const std::string_view fence = FenceOf(line);
      if (fence.size() >= 3 &&
          (fence[0] == '~' || line.find('`', indent + fence.size()) == std::string_view::npos)) {
        open_ = fence;
      }
    }
  }

  const std::vector<std::string_view>& lines_;
  size_t begin_;
  std::string_view open_;  // the fence that is open, or ""
  int blank_run_ = 0;
  bool deep_ = false;
};

// `lines` are those of `piece`, the first of them is line `offset` (0-based) of the text.
void AddPiece(std::string_view piece, std::span<const std::string_view> lines, size_t offset,
              std::vector<Block>& blocks) {
  const NodePtr root(cmark_parse_document(piece.data(), piece.size(), CMARK_OPT_DEFAULT));
  const size_t first_block = blocks.size();
  for (cmark_node* node = cmark_node_first_child(root.get()); node != nullptr;
       node = cmark_node_next(node)) {
    cmark_node* const next = cmark_node_next(node);
    const int count = static_cast<int>(lines.size());
    const int limit = next != nullptr ? cmark_node_get_start_line(next) - 1 : count;
    blocks.push_back(MakeBlock(node, lines, std::clamp(limit, 1, count)));
    const Block& block = blocks.back();
    if (block.type == BlockType::kList || block.type == BlockType::kQuote) {
      AddNestedCode(node, block.last_line, lines, blocks);
    }
  }
  for (size_t i = first_block; i < blocks.size(); ++i) {
    blocks[i].first_line += static_cast<int>(offset);
    blocks[i].last_line += static_cast<int>(offset);
  }
}

}  // namespace

std::vector<Block> ParseMarkdown(std::string_view text) {
  std::vector<Block> blocks;
  const std::vector<std::string_view> lines = SplitLines(text);
  for (size_t begin = 0, end = 0; begin < lines.size(); begin = end) {
    end = PieceCutter(lines, begin).End();
    // How a line goes on after a megabyte does not matter to the structure.
    const char* const stop = end < lines.size() ? lines[end].data() : text.data() + text.size();
    const size_t size = std::min<size_t>(stop - lines[end - 1].data(), kPieceBytes) +
                        (lines[end - 1].data() - lines[begin].data());
    AddPiece({lines[begin].data(), size}, {&lines[begin], end - begin}, begin, blocks);
  }
  return blocks;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t start = 0; start < text.size();) {
    size_t end = start;
    while (end < text.size() && text[end] != '\n' && text[end] != '\r') ++end;
    lines.push_back(text.substr(start, end - start));
    start = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
  }
  return lines;
}

std::string FirstHeading(const std::vector<Block>& blocks) {
  const Block* first = nullptr;
  for (const Block& block : blocks) {
    if (block.type != BlockType::kHeading) continue;
    if (block.level == 1) return block.text;
    if (first == nullptr) first = &block;
  }
  return first != nullptr ? first->text : "";
}

}  // namespace kb
