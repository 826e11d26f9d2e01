// An entry of Net New Knowledge: a claim, its scope and its proof (formats.md). Entries
// are written by kb alone; this reads and checks them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kb/document.h"

namespace kb {

struct NnkEntry {
  std::string id;
  std::string title;
  std::string claim;  // one sentence with its number
  std::string not_when;
  std::string case_name;
  std::string case_sha256;
  std::string state;  // proved | replicated | stale | refuted
  std::string gpu;    // best.gpu
  std::optional<double> median_us;
  std::optional<double> speedup;
  std::optional<double> ci95_low, ci95_high;
  std::optional<double> percent_of_roofline;
  std::vector<std::string> supersedes, related;
};

[[nodiscard]] NnkEntry ParseNnkEntry(const Document& document);

// Whether `state` is one of the four states of formats.md.
[[nodiscard]] bool IsNnkState(std::string_view state);

}  // namespace kb
