// Blocks lie inside the text, top-level blocks are in order and apart, and code that is
// nested lies inside the block that holds it.
#include <cstdint>
#include <cstdlib>

#include "kb/markdown.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const int lines = static_cast<int>(kb::SplitLines(text).size());
  int end = 0, holder_end = 0, nested_start = 0;
  for (const kb::Block& block : kb::ParseMarkdown(text)) {
    if (block.first_line < 1 || block.last_line < block.first_line || block.last_line > lines) {
      std::abort();
    }
    const bool nested = block.type == kb::BlockType::kCode && block.first_line <= holder_end;
    if (nested) {
      if (block.first_line < nested_start || block.last_line > holder_end) std::abort();
      nested_start = block.first_line;
      continue;
    }
    if (block.first_line <= end) std::abort();
    const bool holds = block.type == kb::BlockType::kList || block.type == kb::BlockType::kQuote;
    end = block.last_line;
    holder_end = holds ? block.last_line : 0;
    nested_start = block.first_line;
  }
  return 0;
}
