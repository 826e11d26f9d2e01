// Raw and body are views that reassemble to the text, the body starts at its line, the value
// is a map, and a document says nothing else.
#include <cstdint>
#include <cstdlib>

#include "kb/document.h"
#include "kb/front_matter.h"
#include "kb/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  kb::Diagnostics diagnostics;
  const kb::FrontMatter front = kb::ParseFrontMatter(text, "p.md", &diagnostics);
  const char* const end = text.data() + text.size();
  if (!front.value.IsMap()) std::abort();
  if (front.body.data() + front.body.size() != end) std::abort();
  if (front.present) {
    if (front.raw.data() < text.data() || front.raw.data() + front.raw.size() > front.body.data()) {
      std::abort();
    }
    // Between the two stands the line that ends the front matter, or nothing.
    const std::string_view between(front.raw.data() + front.raw.size(),
                                   front.body.data() - (front.raw.data() + front.raw.size()));
    if (between.find_first_not_of("-. \t\r\n") != std::string_view::npos) std::abort();
  }
  const std::string_view before(text.data(), front.body.data() - text.data());
  if (front.body_line != static_cast<int>(kb::SplitLines(before).size()) + 1 && front.present) {
    std::abort();
  }
  const kb::Document document = kb::ParseDocument("skills/a/SKILL.md", text);
  if (document.text != text || document.body != front.body) std::abort();
  if (kb::WriteJson(document.front_matter) != kb::WriteJson(front.value)) std::abort();
  if (document.description_derived && document.description.empty()) std::abort();
  for (const kb::Diagnostic& d : document.diagnostics) {
    if (kb::FormatDiagnostic(d).find('\n') != std::string::npos || d.mend.empty()) std::abort();
  }
  return 0;
}
