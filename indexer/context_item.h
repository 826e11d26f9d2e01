// One item of a context before it is written: what an agent should know of one hit, in pieces
// by falling worth, so that as many as fit the budget are taken.
#pragma once

#include <string>
#include <vector>

#include "indexer/retriever.h"

namespace kb {

struct ContextPiece {
  const char* part = "";  // "claim", "idea", "code", "passage", "pitfalls", "check" or "when"
  std::string text;       // whole Markdown blocks or list items
};

struct ContextItem {
  std::string id;     // of the bundle
  std::string kind;   // "skill", "trace", "nnk" or "page"
  std::string trust;  // nnk: its state; skill: "curated"; trace: "recorded"; page: "reference"
  std::string title;
  std::string applies;  // "sm_80 and later; CUDA >=12.0; memory-bound", or "not stated"
  std::string gpu;      // where it was measured; "" if it was not
  std::string cuda;
  std::string citation;  // "[id@first 12 digits of the SHA-256 of its main file]"
  std::string sha256;    // of the bundle's main file
  std::string source;    // its path; a passage of another file says so itself
  std::string fetch;     // the command that gives all of it
  std::vector<ContextPiece> pieces;
};

// The parts are taken from the bundle's main file by its headings (the idea, how to check,
// pitfalls, when to use) and the passage that was found; of several code blocks and pitfalls the
// ones that share most words with `question` come first.
// Code tagged for an architecture that the query's --arch excludes is left out.
[[nodiscard]] ContextItem MakeContextItem(Retriever& retriever, const Hit& hit, const Query& query);

}  // namespace kb
