// What the evidence says about an entry, computed from the evidence alone: the numbers that its
// claim rests on, and its state. The same for the writer of entries and for lint.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kb/evidence.h"
#include "kb/value.h"

namespace kb {

// The timing that a claim is about: the first workload measured with cold L2 (a case lists the one
// that matters most first), or the first one if none was cold.
struct Headline {
  std::string gpu, cuda, arch;
  std::string workload;
  bool cold_l2 = true;
  std::string baseline;  // its id
  double baseline_us = 0, candidate_us = 0;
  double speedup = 0, low = 0, high = 0;  // baseline / candidate, and its 95 % interval
  std::optional<bool> faster;             // nullopt: the interval holds 1
  std::optional<double> percent_of_roofline;
  std::string bound;  // "memory", "compute" or ""
  std::optional<double> energy_j;
};
// nullopt if the evaluation has no such timing whose numbers are finite and above 0.
[[nodiscard]] std::optional<Headline> HeadlineOf(const Value& evaluation);

// The map `best` of an entry: gpu, workload, cold_l2, median_us, baseline, speedup, ci95,
// percent_of_roofline, energy_j (the last two if known), rounded to 5 digits.
[[nodiscard]] Value BestValue(const Headline& headline);

// Whether two runs of the same thing agree: the intervals overlap, or the ratios are within 0.5 %
// (kernels over 100 us) or 1 % (over 15 us). Not if GPU, workload, cache state or baseline differ.
[[nodiscard]] bool RatiosAgree(const Headline& a, const Headline& b);

// What an entry claims. kFaster: the interval of the ratio is above 1. kNegative: it excludes an
// improvement above 1 %. kBaseline: the time of the case's baseline itself.
enum class ClaimKind { kFaster, kNegative, kBaseline };
[[nodiscard]] const char* ClaimKindName(ClaimKind kind);  // "faster", "negative", "baseline"
// Of the front matter's `kind`; kFaster if it has none.
[[nodiscard]] ClaimKind ClaimKindOf(const Value& front_matter);
[[nodiscard]] bool Supports(ClaimKind kind, const Headline& headline);

struct EntryState {
  std::string state;             // "proved", "replicated", "stale" or "refuted"; "" : no evidence
  std::string why;               // one line
  std::optional<Headline> best;  // of the first evidence that supports the claim
};
// `evidence`: as ReadEvidence orders it. In this order:
//  - none of it has the front matter's case.sha256 and candidate.sha256: stale;
//  - none that has supports the claim: refuted;
//  - the newest that has, on the claim's GPU, contradicts: refuted. It failed through a fault of
//    the candidate, or no longer supports the claim, or its ratio is below the first one's by
//    more than RatiosAgree allows;
//  - another one agrees with the first: replicated (two files are two runs: one run has one
//    digest);
//  - else proved. `best` is the first one, not the fastest: the luckiest run proves least.
[[nodiscard]] EntryState StateFromEvidence(const Value& front_matter,
                                           const std::vector<EvidenceFile>& evidence);

}  // namespace kb
