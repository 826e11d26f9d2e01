// Each line that is JSON is written and read again as an equal value, on one line and indented.
#include <cstdint>
#include <cstdlib>

#include "kb/json.h"
#include "kb/markdown.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const std::string_view line : kb::SplitLines(text)) {
    std::string why;
    const std::optional<kb::Value> value = kb::ParseJson(line, &why);
    if (!value) {
      if (why.empty()) std::abort();
      continue;
    }
    const std::string written = kb::WriteJson(*value);
    if (written.find('\n') != std::string::npos) std::abort();
    for (const std::string& again : {written, kb::WriteJson(*value, 2)}) {
      const std::optional<kb::Value> read = kb::ParseJson(again);
      if (!read || !(*read == *value)) std::abort();
    }
  }
  return 0;
}
