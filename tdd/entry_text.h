// The text of an entry, NNK.md, made from its numbers. For RecordEntry and AppendEvidence.
#pragma once

#include <string>
#include <vector>

#include "tdd/record.h"

namespace kb {

// "On an NVIDIA H200 (CUDA 13.0) axpy-f32/float4 takes 187.8 us for 67108864, 1.268x
// [1.267, 1.269] as fast as naive with cold L2, 95 % of the roofline". One sentence.
[[nodiscard]] std::string ClaimSentence(ClaimKind kind, const Headline& headline,
                                        const std::string& case_name,
                                        const std::string& candidate_id);

// `key: value` and a line end, in YAML's flow style.
[[nodiscard]] std::string FrontLine(const std::string& key, const Value& value);

// A file of the candidate that the entry keeps.
struct KeptFile {
  std::string name;  // relative to candidate/
  std::string bytes;
};

struct EntryText {
  std::string id;
  std::string notes;  // of NOTES.md; "" : none
  std::string limit;  // what limits it; "" : not said
  std::vector<KeptFile> files;
  Headline headline;
  EntryState state;
};
[[nodiscard]] std::string WriteEntryText(const RecordRequest& request, const EntryText& entry);
// Its parts: from --- to ---, and the line of when not to use it.
[[nodiscard]] std::string EntryFrontMatter(const RecordRequest& request, const EntryText& entry,
                                           const Value& evaluation);
[[nodiscard]] std::string EntryNotWhen(const RecordRequest& request, const Value& measure);
// Text from a candidate, on one line.
[[nodiscard]] std::string OnOneLine(std::string text);

// Notes cut at their headings: the sections whose heading speaks of a limit, and all others.
// Headings become those of an entry's subsections.
struct SplitNotes {
  std::string idea, limit;
};
[[nodiscard]] SplitNotes ReadNotes(const std::string& notes);

// Wrong kernels of the section "red": killed, and the names of survivors.
struct RedCount {
  int mutants = 0, killed = 0;  // without those shown or declared to be equivalent, or not run
  std::vector<std::string> survivors, declared;
};
[[nodiscard]] RedCount CountRed(const Value& red);

}  // namespace kb
