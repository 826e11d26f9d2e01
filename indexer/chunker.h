// Cuts a document into passages: by headings, 150 to 350 words, fences never split.
#pragma once

#include <string_view>
#include <vector>

#include "kb/chunk.h"
#include "kb/document.h"

namespace kb {

// In order; the byte ranges join to the body exactly (nothing lost, nothing twice), except
// that a document without a body has one empty chunk. Sections over 350 words are cut at the
// borders of blocks; a larger block at list items, at line ends or, failing that, at spaces,
// but a fence never: it may make a chunk larger. Neighbouring small sections under one parent
// are joined; the heading then names all of them: "A > B; C". A heading that repeats the
// document's title is left out of the path. Linear in the size of the body.
[[nodiscard]] std::vector<Chunk> SplitDocument(const Document& document);

// Whether a heading, or the last part of a heading path, names a list of sources ("Sources",
// "References", "See also"). Such a section is a chunk of its own: it is searched, but says
// nothing, so it is not shown if another passage of its bundle fits.
[[nodiscard]] bool IsApparatus(std::string_view heading);

}  // namespace kb
