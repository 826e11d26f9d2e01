// SHA-256 (FIPS 180-4) as lower-case hex. The only place that includes libmd.
#pragma once

#include <string>
#include <string_view>

namespace kb {

// 64 hexadecimal digits.
[[nodiscard]] std::string Sha256(std::string_view bytes);

}  // namespace kb
