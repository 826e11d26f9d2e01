// UTF-8 (RFC 3629), one character at a time. Knows nothing of Unicode's properties.
#pragma once

#include <cstddef>
#include <string_view>

namespace kb {

// Bytes of the well-formed character that starts at `at`, 1..4; 0 if there is none
// (stray or missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF).
[[nodiscard]] inline int Utf8Length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned lead = byte(0);
  if (at < text.size() && lead < 0x80) return 1;
  const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  unsigned low = 0x80, high = 0xBF;  // of the second byte: RFC 3629, section 4
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  if (byte(1) < low || byte(1) > high) return 0;
  for (int i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace kb
