// The files of a skill or an entry that go along with it, read safely: nothing hidden, no link
// that leads out, everything bounded.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/document.h"

namespace kb {

struct BundleFile {
  std::string path;  // below the bundle's folder
  std::string bytes;
  bool executable = false;  // kept in scripts/ alone
};

struct LeftOut {
  std::string path;
  std::string why;  // a few words
};

struct Bundle {
  std::vector<BundleFile> files;  // by path, without the SKILL.md or NNK.md itself
  std::vector<LeftOut> left_out;  // what should have come along
};

struct BundleLimits {
  int max_files = 10000;
  size_t max_bytes = 64u << 20;  // of all files together
  int max_depth = 16;
  size_t max_path = 512;
};

// Of a skill: references/, scripts/, assets/, all Markdown but that in evals/, and licences. Of
// an entry: candidate/ and evidence/ (below assets/), Markdown, licences. `is_other(folder)`: the
// folder is a bundle of its own. `main`: the file name of the document itself.
[[nodiscard]] Bundle ReadBundle(const std::string& folder, std::string_view main, Kind kind,
                                const std::function<bool(const std::string&)>& is_other,
                                const BundleLimits& limits = {});

// The first finding of a blocking rule in a text, and whether the text only says itself that it
// is harmless (a suppression), which `allow_suppressed` accepts; "" if there is none.
[[nodiscard]] std::string FirstBlocked(const Diagnostics& findings, bool allow_suppressed);

// The same for any file: one that is no text has no findings.
[[nodiscard]] std::string FirstBlockedIn(const BundleFile& file, bool allow_suppressed);

}  // namespace kb
