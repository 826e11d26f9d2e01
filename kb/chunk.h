// A passage of a document: the unit that is indexed, shown and cited.
#pragma once

#include <cstdint>
#include <string>

namespace kb {

struct Chunk {
  std::string id;       // 8 hex digits of the SHA-256 of its heading and text
  std::string heading;  // heading path "A > B > C"; "" before the first heading
  int first_line = 0;   // of the file, 1-based, inclusive
  int last_line = 0;
  int64_t begin = 0;  // byte range [begin, end) of the document's text
  int64_t end = 0;
};

}  // namespace kb
