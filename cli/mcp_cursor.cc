#include "cli/mcp_cursor.h"

#include <charconv>

#include "kb/sha256.h"

namespace kb {
namespace {

// "<8 digits of the digest of the rest>-<version>-<next>". The digest only tells cursors of
// ours from other texts: what they lead to is no secret.
std::string Seal(const std::string& list, const std::string& rest) {
  return Sha256("kb cursor " + list + " " + rest).substr(0, 8);
}

}  // namespace

std::string WriteCursor(const Cursor& cursor) {
  const std::string rest = std::to_string(cursor.version) + "-" + std::to_string(cursor.next);
  return Seal(cursor.list, rest) + "-" + rest;
}

std::optional<size_t> ReadCursor(const Value& params, const std::string& list, int64_t version) {
  if (!params.Has("cursor")) return 0;
  const std::string& text = params["cursor"].AsString();
  const size_t last = text.rfind('-');
  if (text.size() > 64 || last == std::string::npos) return std::nullopt;
  size_t next = 0;
  std::from_chars(text.data() + last + 1, text.data() + text.size(), next);
  if (text != WriteCursor({list, version, next})) return std::nullopt;
  return next;
}

}  // namespace kb
