// A Markdown file as kb knows it: a skill, a trace, an NNK entry, or a page that
// belongs to one of these. Parsing loses nothing and never throws for content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/markdown.h"
#include "kb/value.h"

namespace kb {

// kPage: any other Markdown file, e.g. references/ beside a SKILL.md.
enum class Kind { kSkill, kTrace, kNnk, kPage };

[[nodiscard]] const char* KindName(Kind kind);  // "skill", "trace", "nnk", "page"

// What a document applies to, from its front matter; empty: not said.
struct Scope {
  std::string arch;  // e.g. ">=sm_80" or "sm_90a"; see MatchesArch
  std::string cuda;  // e.g. ">=12.0"; see MatchesCuda
  std::vector<std::string> dtypes;
  std::string bound;  // memory | compute | latency
  std::vector<std::string> topics;
};

struct Document {
  std::string path;  // as given, '/' separated
  Kind kind = Kind::kPage;
  std::string id;                    // skill: its name; trace, nnk: its id; page: its path
  std::string title;                 // name, H1 or folder
  std::string description;           // "" if there is none to be found
  bool description_derived = false;  // not stated; taken from the text
  Value front_matter;                // a map (empty if there is none), verbatim keys
  bool has_front_matter = false;
  std::string text;           // the whole file, as read
  std::string body;           // after the front matter, as read
  int body_line = 1;          // file line of the body's first line
  std::vector<Block> blocks;  // of the body; lines relative to the body
  Scope scope;
  std::string license;      // SPDX or as stated; "" unknown
  std::string state;        // nnk: proved, replicated, stale, refuted; else ""
  std::string sha256;       // of `text`
  Diagnostics diagnostics;  // of parsing; Lint adds more
};

// `path` decides the kind together with the content: SKILL.md, NNK.md, "kb: trace/1".
[[nodiscard]] Document ParseDocument(std::string_view path, std::string text);

// What the front matter of a document of this kind says about where it applies. Skills:
// "kb-arch" and so on under `metadata`, at the top level or in a map `kb`. Traces:
// hardware.cc, toolchain.cuda, task.dtype. Entries: `scope`. Lists and strings alike.
[[nodiscard]] Scope ReadScope(Kind kind, const Value& front_matter);

// The bundle of a document: the nearest folder at or above it, within its root, that
// holds a SKILL.md or NNK.md; else the document's own path. `has_index(folder)` says
// whether that folder holds one. `root` "" means no bound.
template <typename HasIndex>
[[nodiscard]] std::string BundleOf(std::string_view path, std::string_view root,
                                   const HasIndex& has_index) {
  for (size_t slash = path.rfind('/'); slash != std::string_view::npos;
       slash = slash == 0 ? std::string_view::npos : path.rfind('/', slash - 1)) {
    std::string folder(path.substr(0, slash));
    if (folder.size() < root.size()) break;
    if (has_index(folder)) return folder;
  }
  return std::string(path);
}

// Whether a constraint such as ">=sm_80", "sm_90a", "sm_80 sm_90" or ">=sm_80 <sm_100"
// admits `arch` ("sm_90", "90", "9.0", "sm_90a"). An empty constraint admits all. An
// 'a' suffix in the constraint is met only by that very architecture family (sm_90a by
// sm_90). A constraint that cannot be read admits all (lint reports it).
[[nodiscard]] bool MatchesArch(std::string_view constraint, std::string_view arch);

// The same for CUDA versions: ">=12.0", "12.8", ">=12.0 <14".
[[nodiscard]] bool MatchesCuda(std::string_view constraint, std::string_view version);

// False if the text is no constraint MatchesArch / MatchesCuda can read.
[[nodiscard]] bool IsArchConstraint(std::string_view constraint);
[[nodiscard]] bool IsCudaConstraint(std::string_view constraint);

}  // namespace kb
