// The judge's line to kb: descriptor 3, a line of plain words each way. From the main thread only.
#pragma once

#include <string>
#include <string_view>

namespace kb::test::internal {

void Say(std::string_view line);   // ends the process if kb is gone
[[nodiscard]] std::string Hear();  // likewise

// Backslash, newline and control characters as \xNN, cut at 4,000 bytes: fits into a line.
[[nodiscard]] std::string OneLine(std::string_view text);
// With all the digits that a double has.
[[nodiscard]] std::string Number(double value);

// Says "fault STATUS KIND message" and ends the process: nothing can be judged any further. No
// kind is "-".
[[noreturn]] void Fault(std::string_view status, std::string_view message,
                        std::string_view kind = "-");

}  // namespace kb::test::internal
