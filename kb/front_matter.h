// The YAML between "---" lines at the top of a document, read leniently: every
// defect that public files have (formats.md) loads, with a diagnostic.
#pragma once

#include <string>
#include <string_view>

#include "kb/diagnostic.h"
#include "kb/value.h"

namespace kb {

struct FrontMatter {
  bool present = false;
  Value value;            // a map; lines are those of the file
  std::string_view raw;   // the YAML text itself, a view into the text given
  std::string_view body;  // what follows the closing line
  int body_line = 1;      // 1-based line of the file where the body starts
};

// Accepts a BOM, CR and CRLF, "---" or "..." as the end, HTML comments or blank
// lines before the start. On a YAML error: retries with single-line scalars quoted,
// then scans "key: value" lines. What was repaired is in `*diagnostics`.
[[nodiscard]] FrontMatter ParseFrontMatter(std::string_view text, std::string_view path,
                                           Diagnostics* diagnostics);

}  // namespace kb
