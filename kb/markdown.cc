#include "kb/markdown.h"

#include <cmark.h>

#include <algorithm>
#include <memory>

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

// Whether `line` closes the fence `open`: only markers of the holding blocks before it,
// at least as long, nothing after it.
bool ClosesFence(std::string_view line, std::string_view open) {
  const size_t start = line.find_first_not_of(" \t>");
  if (start == std::string_view::npos) return false;
  line.remove_prefix(start);
  const size_t end = std::min(line.find_first_not_of(open[0]), line.size());
  return end >= open.size() && line.find_first_not_of(" \t", end) == std::string_view::npos;
}

// cmark has no accessor for this, so the source is asked.
bool IsUnterminated(const Block& block, const std::vector<std::string_view>& lines,
                    int start_column) {
  std::string_view first = lines[static_cast<size_t>(block.first_line - 1)];
  first.remove_prefix(std::min(first.size(), static_cast<size_t>(std::max(start_column - 1, 0))));
  const std::string_view open = FenceOf(first);
  if (open.size() < 3) return false;  // an indented block
  return block.last_line == block.first_line ||
         !ClosesFence(lines[static_cast<size_t>(block.last_line - 1)], open);
}

Block MakeBlock(cmark_node* node, const std::vector<std::string_view>& lines) {
  const int count = static_cast<int>(lines.size());
  Block block;
  block.type = TypeOf(node);
  block.first_line = std::clamp(cmark_node_get_start_line(node), 1, count);
  block.last_line = std::clamp(cmark_node_get_end_line(node), block.first_line, count);
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

void AddNestedCode(cmark_node* holder, const std::vector<std::string_view>& lines,
                   std::vector<Block>& blocks) {
  const IterPtr iter(cmark_iter_new(holder));
  for (cmark_event_type event; (event = cmark_iter_next(iter.get())) != CMARK_EVENT_DONE;) {
    cmark_node* node = cmark_iter_get_node(iter.get());
    if (event != CMARK_EVENT_ENTER || cmark_node_get_type(node) != CMARK_NODE_CODE_BLOCK) continue;
    blocks.push_back(MakeBlock(node, lines));
  }
}

}  // namespace

std::vector<Block> ParseMarkdown(std::string_view text) {
  std::vector<Block> blocks;
  const std::vector<std::string_view> lines = SplitLines(text);
  if (lines.empty()) return blocks;
  const NodePtr root(cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT));
  for (cmark_node* node = cmark_node_first_child(root.get()); node != nullptr;
       node = cmark_node_next(node)) {
    blocks.push_back(MakeBlock(node, lines));
    const BlockType type = blocks.back().type;
    if (type == BlockType::kList || type == BlockType::kQuote) AddNestedCode(node, lines, blocks);
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
