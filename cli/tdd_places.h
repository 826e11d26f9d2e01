// What the words of `kb tdd` name: cases, candidates, entries; and the tools of this machine.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "tdd/session.h"

namespace kb {

inline constexpr char kCasesFolder[] = "tdd/cases";
inline constexpr char kNnkFolder[] = "nnk";

// A folder with a case.yaml, or a name below tdd/cases. Throws Error with the nearest that is.
[[nodiscard]] std::string CaseFolder(const std::string& word);
// All cases below tdd/cases, by name.
[[nodiscard]] std::vector<std::string> AllCaseFolders();
// A folder with a launch.yaml, or an id below `case_folder`/candidates. Throws Error likewise.
[[nodiscard]] std::string CandidateFolder(const std::string& case_folder, const std::string& word);
[[nodiscard]] std::vector<std::string> AllCandidateFolders(const std::string& case_folder);
// "nnk/ID", "ID" or a folder with an NNK.md. Throws Error.
[[nodiscard]] std::string EntryFolder(const std::string& word);
[[nodiscard]] std::vector<std::string> AllEntryFolders();

// "2/8" -> {2, 8}: the third of eight parts. Throws Error.
struct Shard {
  int index = 0, count = 1;
};
[[nodiscard]] Shard ParseShard(const std::string& text);

// A toolchain, if there is one, and where everything is. The stages are told on `streams.talk`.
class Workshop {
 public:
  Workshop(const Args& args, Streams& streams);
  [[nodiscard]] ProofTools tools() const { return tools_; }
  [[nodiscard]] const std::string& judges_folder() const { return tools_.judges_folder; }

 private:
  ProofTools tools_;
};

}  // namespace kb
