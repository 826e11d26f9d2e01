// Cuts a document into passages: by headings, 150 to 350 words, fences never split.
#pragma once

#include <vector>

#include "kb/chunk.h"
#include "kb/document.h"

namespace kb {

// In order; the byte ranges join to the body exactly (nothing lost, nothing twice), except
// that a document without a body has one empty chunk. A fence longer than the target is one
// chunk. Neighbouring small sections under one parent are joined.
[[nodiscard]] std::vector<Chunk> SplitDocument(const Document& document);

}  // namespace kb
