// The parts that the chunker joins and cuts: sections by headings, made of atoms.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kb/document.h"

namespace kb {

inline constexpr int kMaxWords = 350;   // of a chunk, unless a fence makes it larger
inline constexpr int kScrapWords = 50;  // too little to stand alone

// A stretch of the body that is not cut; it ends where the next begins.
struct Atom {
  size_t begin = 0;
  int words = 0;
};

// A heading (or the start of the body) and what follows up to the next heading.
struct Section {
  std::string name;  // "" at the start, and if it repeats the title
  int parent = -1;   // index of a section
  size_t first_atom = 0;
  int words = 0;
  bool bare = true;  // nothing but its heading
};

struct Sections {
  std::vector<Section> sections;  // the first is what stands before any heading
  std::vector<Atom> atoms;        // of all sections, in order; none if the body is empty
};

// An atom is a top-level block with the blank lines behind it. One of over kMaxWords words is
// cut at the lines of a paragraph, the items of a list, the spaces of a line; a fence never.
// Words of over 24 bytes count as several.
[[nodiscard]] Sections CutSections(const Document& document);

// At most `bytes` of the text, without half a UTF-8 character at the end.
[[nodiscard]] std::string CutText(std::string text, size_t bytes);

}  // namespace kb
