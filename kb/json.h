// JSON text to and from Value. The only place that includes the JSON library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kb/value.h"

namespace kb {

struct JsonLimits {
  size_t max_bytes = 64u << 20;
  int max_depth = 64;
};

// nullopt if `text` is not one JSON value within the limits; `*why` (may be
// null) then says why in one line. Key order is kept; integers beyond int64
// become doubles.
[[nodiscard]] std::optional<Value> ParseJson(std::string_view text, std::string* why = nullptr,
                                             const JsonLimits& limits = {});

// indent < 0: one line. Bytes that are not UTF-8 become U+FFFD; NaN and
// infinities become null (JSON has neither).
[[nodiscard]] std::string WriteJson(const Value& value, int indent = -1);

}  // namespace kb
