// Term ids and the term rows of a document: what the tokenizer's words become in the index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kb {

using TermId = uint32_t;
inline constexpr TermId kNoTerm = 0xFFFFFFFF;

// An id and a count in 32 bits: the id in the upper 24, the count (capped at 255) below.
using Packed = uint32_t;
inline constexpr uint32_t kMaxPackedId = (1u << 24) - 1;
[[nodiscard]] constexpr Packed Pack(uint32_t id, uint32_t count) {
  return id << 8 | (count < 255 ? count : 255);
}
[[nodiscard]] constexpr uint32_t PackedId(Packed p) { return p >> 8; }
[[nodiscard]] constexpr uint32_t PackedCount(Packed p) { return p & 255; }

struct ChunkTerms {
  std::vector<Packed> body;     // distinct terms with counts, by id
  std::vector<TermId> heading;  // of the heading path, in order
  bool apparatus = false;       // a list of sources: IsApparatus
};

// Everything of one document that scoring uses. Sequences keep order and repeats.
struct DocumentTerms {
  std::vector<TermId> path;  // below its bundle's folder, without the suffix
  std::vector<TermId> title;
  std::vector<TermId> stated;       // its front matter's description, whole
  std::vector<TermId> name;         // main document of a bundle: the bundle's name
  std::vector<TermId> description;  // main document: what it is for, without what it is not for
  std::vector<ChunkTerms> chunks;
};

// Interns terms: ids from `first` on, in order of appearance.
class TermTable {
 public:
  explicit TermTable(TermId first = 0) : first_(first) {}

  [[nodiscard]] TermId Intern(std::string_view term);
  [[nodiscard]] const std::vector<std::string>& terms() const { return terms_; }
  [[nodiscard]] TermId first() const { return first_; }

 private:
  TermId first_;
  std::unordered_map<std::string, TermId> ids_;
  std::vector<std::string> terms_;
};

}  // namespace kb
