// YAML as people write it: what a strict parser refuses is repaired, never dropped.
#pragma once

#include <string>
#include <string_view>

#include "kb/value.h"
#include "kb/yaml.h"

namespace kb {

struct LenientYaml {
  // kQuoted: parsed after single-line scalars were quoted. kScanned: only the "key:" lines
  // at column 0 were read; nested parts are kept as YAML where they are, as text else.
  enum class How { kParsed, kQuoted, kScanned };
  How how = How::kParsed;
  Value value;      // kScanned: a map, empty if there is no "key:" line
  YamlError error;  // of the strict parse; not set for kParsed
};

// Never fails. Lines of the values are those of `text` plus `line_offset`.
[[nodiscard]] LenientYaml ParseYamlLeniently(std::string_view text, int line_offset);

// The key of a line "key: value" or "key:" at column 0, without quotes; "" if it is none.
[[nodiscard]] std::string_view YamlKeyOf(std::string_view line);

}  // namespace kb
