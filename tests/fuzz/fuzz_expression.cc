// Any text: it parses and evaluates, or says why in one line; what it was parsed from parses to the
// same value again; names are what evaluation asks for.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tdd/expression.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  std::string why;
  const auto parsed = kb::Expression::Parse(text, &why);
  if (!parsed) {
    Check(!why.empty() && why.find('\n') == std::string::npos);
    return 0;
  }
  Check(parsed->text() == text && size <= 1024);
  kb::Axes axes;
  int64_t value = -1;
  for (const std::string& name : parsed->names()) axes[name] = value = value % 4096 * -37 + 7;
  const auto result = parsed->Evaluate(axes, &why);
  Check(result || (!why.empty() && why.find("unknown name") == std::string::npos));
  const auto inner = kb::Expression::Parse("(" + text + ") + 0");
  if (inner) Check(inner->Evaluate(axes) == result);
  return 0;
}
