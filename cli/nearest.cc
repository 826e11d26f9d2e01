#include <algorithm>
#include <vector>

#include "cli/command.h"

namespace kb {
namespace {

// Words longer than this get no suggestion: the distance costs the product of the lengths.
constexpr size_t kMaxWord = 256;

// Optimal string alignment distance.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string OnlyOneThatBeginsWith(std::string_view word, std::span<const std::string> known) {
  std::string found;
  for (const std::string& candidate : known) {
    if (!candidate.starts_with(word)) continue;
    if (!found.empty()) return "";
    found = candidate;
  }
  return found;
}

}  // namespace

std::string Nearest(std::string_view word, std::span<const std::string> known) {
  if (word.empty() || word.size() > kMaxWord) return "";
  const size_t allowed = std::max<size_t>(1, word.size() / 3);
  size_t best = allowed + 1;
  std::string found;
  for (const std::string& candidate : known) {
    if (candidate.size() > word.size() + allowed || word.size() > candidate.size() + allowed) {
      continue;
    }
    const size_t distance = EditDistance(word, candidate);
    if (distance < best && distance < candidate.size()) {
      best = distance;
      found = candidate;
    }
  }
  return found.empty() ? OnlyOneThatBeginsWith(word, known) : found;
}

}  // namespace kb
