// kb get. With --json what FoundJson says.
#include <algorithm>
#include <ostream>
#include <string>

#include "cli/found_json.h"
#include "cli/run_commands.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

// Byte-exact to a pipe; on a terminal control characters are escaped.
void Print(std::string_view text, Streams& streams) {
  if (!streams.out_is_terminal) {
    streams.out << text;
    return;
  }
  for (size_t stop; !text.empty(); text.remove_prefix(stop)) {
    stop = std::min(text.find_first_of("\n\t"), text.size());
    streams.out << Printable(text.substr(0, stop));
    if (stop < text.size()) streams.out << text[stop++];
  }
}

}  // namespace

int RunGet(const Args& args, Streams& streams) {
  const std::string kb_dir = FindKbDir(args);
  Catalog catalog(kb_dir, Catalog::Mode::kRead);
  catalog.BeginRead();
  const Found found = FindNamed(catalog, kb_dir, args.Get("DOCUMENT"));
  if (!found.why_not.empty()) {
    streams.talk << "kb get: " << found.why_not << '\n';
    return kNothing;
  }
  if (args.Has("--json")) {
    streams.out << WriteJson(FoundJson(found), 2) << '\n';
  } else {
    Print(found.text, streams);
  }
  return kFound;
}

}  // namespace kb
