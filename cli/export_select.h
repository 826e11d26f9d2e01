// Which skills and entries an export takes, read from the Markdown on disk, and why others not.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/export_bundle.h"
#include "indexer/scan.h"
#include "kb/document.h"

namespace kb {

struct ExportOptions {
  std::set<std::string> ids;  // only these, by id or folder; empty: all
  bool allow_suppressed = false;
};

struct ExportCandidate {
  std::string path;    // of the SKILL.md or NNK.md, as catalogued
  std::string folder;  // on disk
  std::string id;
  Kind kind = Kind::kSkill;
  bool named = false;  // asked for by name
};

// A candidate as it is on disk, and whether it may leave.
struct Judged {
  Document document;
  Bundle bundle;
  std::string state;    // of an entry
  std::string refused;  // why it is not exported; ""
  std::string doubt;    // why it would not be, had it not been named; ""
};

class ExportSelection {
 public:
  // `kb_dir` as for ScanRoots. Throws Error if an id is not there (says the nearest one).
  ExportSelection(const std::string& kb_dir, Scan scan, ExportOptions options);

  [[nodiscard]] const std::vector<ExportCandidate>& candidates() const {
    return candidates_;
  }  // by path
  [[nodiscard]] Judged Judge(const ExportCandidate& candidate) const;

 private:
  [[nodiscard]] std::string StateOf(std::string_view id) const;
  void KeepNamed(const std::vector<std::string>& known);

  std::string kb_dir_;
  Scan scan_;
  ExportOptions options_;
  std::set<std::string> bundles_;  // folders as catalogued
  std::map<std::string, std::string, std::less<>> entry_states_;
  std::vector<ExportCandidate> candidates_;
};

}  // namespace kb
