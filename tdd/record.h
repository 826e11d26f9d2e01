// Entries of Net New Knowledge as folders: nnk/<id>/NNK.md, candidate/, evidence/. Written whole
// or not at all; evidence is only ever added.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tdd/candidate.h"
#include "tdd/news.h"

namespace kb {

struct RecordRequest {
  const Case* of_case = nullptr;
  const Candidate* candidate = nullptr;
  const Evaluation* evaluation = nullptr;
  News news;
  std::string nnk_folder;
  std::string id;                  // "" : <case>-<candidate>
  std::vector<Evaluation> others;  // other candidates of the case, for "what failed before"
};

struct Recorded {
  std::string id, folder;  // of the entry
  std::string refused;     // why nothing was written; "" if it was
};

// Refuses what may not become knowledge: it did not pass, is no news, was emulated, has no red; a
// memory-bound time under 80 % of the roofline that nobody explains (`limit:` in launch.yaml, or a
// heading with the word "limit" in NOTES.md); an entry that lint would reject; an id that is
// taken. Throws Error if the disk fails; nothing is left behind then.
[[nodiscard]] Recorded RecordEntry(const RecordRequest& request);

// Adds the evaluation to the entry's evidence and brings state, best, case and claim of its NNK.md
// in line with all evidence. An evaluation that is there already changes nothing. One that was
// emulated, skipped or failed through our own fault is refused, as is one of another case or
// candidate. Throws Error as above.
[[nodiscard]] Recorded AppendEvidence(const std::string& entry_folder,
                                      const Evaluation& evaluation);

// Where an entry stands today.
struct Surroundings {
  std::string case_sha256;  // of the case as it is now; "" : it is gone
  std::string cuda;         // of this machine's driver or toolkit, "13.0"; "" : not known
  std::string arch;         // of this machine's GPU, "sm_90"; "" : none
};
// The state by evidence, or "stale" where the case, the candidate's files, the toolkit or the GPU
// family have moved on since the newest evidence; `why` says which.
[[nodiscard]] EntryState StateOf(const KnownEntry& entry, const Surroundings& now);
[[nodiscard]] EntryState StateOf(const std::string& entry_folder, const Case& of_case);

struct StaleEntry {
  std::string id, state, why;
};
// Entries that must be proved again or are refuted, by id: `kb status --stale`.
[[nodiscard]] std::vector<StaleEntry> StaleEntries(const std::string& nnk_folder,
                                                   const std::string& cases_folder,
                                                   const std::string& cuda,
                                                   const std::string& arch);

}  // namespace kb
