// Any bytes as a document: the chunks join to the body exactly.
#include <cstdint>
#include <string>

#include "indexer/chunker.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const kb::Document document =
      kb::ParseDocument("page.md", std::string(reinterpret_cast<const char*>(data), size));
  const auto chunks = kb::SplitDocument(document);
  auto at = static_cast<int64_t>(document.text.size() - document.body.size());
  for (const kb::Chunk& chunk : chunks) {
    const bool empty = chunk.begin == chunk.end && !document.body.empty();
    if (chunk.begin != at || chunk.end < chunk.begin || empty) __builtin_trap();
    if (chunk.first_line < document.body_line || chunk.last_line < chunk.first_line) {
      __builtin_trap();
    }
    at = chunk.end;
  }
  if (chunks.empty() || at != static_cast<int64_t>(document.text.size())) __builtin_trap();
  return 0;
}
