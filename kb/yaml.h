// YAML text to Value. The only place that includes yaml-cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kb/value.h"

namespace kb {

// Bounds on front matter and fenced YAML (formats.md): aliases are refused, so
// no document can grow when it is read.
struct YamlLimits {
  size_t max_bytes = 256u << 10;
  int max_nodes = 10000;
  int max_depth = 64;
};

struct YamlError {
  int line = 0;             // 1-based within `text`
  std::string message;      // one line
  bool over_limit = false;  // of YamlLimits
};

// Plain scalars get the YAML 1.2 core schema: null, bool, int, float, else
// string. Lines of the values are those of `text` plus `line_offset`.
// An empty text is a null value. nullopt: not YAML, or over a limit.
[[nodiscard]] std::optional<Value> ParseYaml(std::string_view text, int line_offset,
                                             YamlError* error, const YamlLimits& limits = {});

}  // namespace kb
