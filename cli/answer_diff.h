// What two states of the content answer to the same questions, and where they differ.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "indexer/evaluate.h"

namespace kb {

inline constexpr int kDiffTop = 3;  // answers compared: as many as a context takes

// The folders that hold content, below the top of either state.
[[nodiscard]] const std::vector<std::string>& ContentRoots();

// One state of the content: what is in it, and how it answers.
struct Side {
  std::map<std::string, std::string> documents;    // path -> SHA-256
  std::set<std::string> bundles;                   // ids that an answer may name
  std::vector<std::vector<std::string>> answers;   // ids, best first, by question
  std::vector<std::vector<std::string>> passages;  // path and digest of the text, likewise
};

struct Change {
  size_t question = 0;
  std::vector<std::string> gained, lost;
  bool same_documents = false;  // other passages or another order of the same
};

struct DocumentChanges {
  std::vector<std::string> added, changed, removed;  // paths, sorted
};

struct AnswerDiff {
  std::vector<Question> questions;
  Side before, now;
  std::vector<Change> changes;  // by question
  DocumentChanges documents;
  int asked = 0;                        // questions with a known answer
  int right_before = 0, right_now = 0;  // of them: the first answer is one
  std::vector<std::string> silent;      // new ids that no question finds
};

// Indexes the content roots below each folder (in a .kb there) and asks both. Throws Error.
[[nodiscard]] AnswerDiff CompareAnswers(const std::string& before, const std::string& now,
                                        std::vector<Question> questions);

}  // namespace kb
