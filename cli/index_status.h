// What is indexed and whether it is up to date: `kb status`, and its JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/freshness.h"
#include "kb/catalog.h"
#include "kb/value.h"

namespace kb {

inline constexpr std::array kKinds = {Kind::kSkill, Kind::kTrace, Kind::kNnk, Kind::kPage};

struct IndexStatus {
  std::string kb_dir;
  int64_t generation = 0;
  int64_t indexed_at = 0;  // 0: not known
  std::string embedder;
  std::vector<std::string> roots;
  int64_t size_bytes = 0;
  std::array<int, kKinds.size()> documents = {};  // as kKinds
  int64_t chunks = 0;
  Diagnostics blocked;  // what keeps files out of the index
  Freshness freshness;
  std::vector<CatalogDocument> stale_entries;  // and refuted ones

  [[nodiscard]] bool IsStale() const { return !freshness.IsFresh() || !stale_entries.empty(); }
};

// Throws Error if there is no index in `kb_dir`.
[[nodiscard]] IndexStatus ReadStatus(const std::string& kb_dir);

// How long ago, in seconds; 0 if the time is not known.
[[nodiscard]] int64_t AgeSeconds(const IndexStatus& status);

// {kb_dir, generation, indexed_at (Unix seconds or null), age_s, embedder, roots,
//  size_bytes, documents: {skill, trace, nnk, page}, chunks, blocked: [diagnostic...],
//  stale: StaleJson}
[[nodiscard]] Value StatusJson(const IndexStatus& status);
// {changed, added, removed: [path...], entries: [{id, state}...]}
[[nodiscard]] Value StaleJson(const IndexStatus& status);

}  // namespace kb
