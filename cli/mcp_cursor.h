// Lists in pages, and the cursors between them: opaque to clients, good for one list of one
// opening of the index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kb/value.h"

namespace kb {

inline constexpr size_t kMaxPageItems = 100;
inline constexpr size_t kMaxPageBytes = 30000;

struct Cursor {
  std::string list;     // e.g. "resources/list"
  int64_t version = 0;  // McpIndex::openings; a cursor of another one is not known
  size_t next = 0;      // the first item of the page
};

[[nodiscard]] std::string WriteCursor(const Cursor& cursor);

// Where the page that `params` ask for begins: 0 without a cursor; nullopt if the cursor is
// none of ours, or of another list or version.
[[nodiscard]] std::optional<size_t> ReadCursor(const Value& params, const std::string& list,
                                               int64_t version);

}  // namespace kb
