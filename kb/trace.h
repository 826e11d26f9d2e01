// A recorded trace: how a kernel came to be, attempt by attempt (formats.md).
// A structured trace holds fenced YAML blocks; a plain journal is read by pattern
// and everything guessed is marked derived.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kb/document.h"

namespace kb {

struct Attempt {
  std::string id;      // e.g. "A1"
  std::string parent;  // "" for a root
  std::string hypothesis;
  std::string decision;               // keep | revert | branch | abandon | park | ""
  std::string status;                 // tests.status, e.g. "PASSED"; "" unknown
  std::optional<double> median_us;    // time.median in microseconds
  std::optional<double> baseline_us;  // time.baseline in microseconds
  std::optional<double> speedup;      // time.speedup, as stated
  std::string why;
  Value fields;  // the whole block, nothing lost; null if derived
  int line = 0;  // of the file, 1-based
  bool derived = false;
};

struct Lesson {
  std::string id;
  std::string claim;
  std::vector<std::string> evidence;  // attempt ids
  std::vector<std::string> counter_evidence;
  std::string confidence;  // measured | replicated | inferred | reported | ""
  std::string falsifier;
  std::string nnk;  // entry id; "" if not promoted
  Value fields;
  int line = 0;
};

struct Trace {
  std::vector<Attempt> attempts;  // in the order of the file
  std::vector<Lesson> lessons;
  std::string best;         // result.best; "" if not stated
  bool structured = false;  // has kb:attempt blocks
  Diagnostics diagnostics;  // of reading the blocks
};

[[nodiscard]] Trace ParseTrace(const Document& document);

// The attempts of a plain journal, all marked derived: headings, list items and table rows
// that start with "Attempt 3" (or Iteration, Round, Experiment, Version) and what times,
// speedups and verdicts stand below them. Wrong guesses are possible, errors are not.
[[nodiscard]] std::vector<Attempt> ReadJournal(const Document& document);

// A time in microseconds for a unit "ns", "us", "µs", "ms" or "s"; nullopt for another.
[[nodiscard]] std::optional<double> ToMicroseconds(double value, std::string_view unit);

inline constexpr size_t kMaxAttempts = 10000;  // and as many lessons

}  // namespace kb
