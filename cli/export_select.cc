#include "cli/export_select.h"

#include <algorithm>

#include "cli/command.h"
#include "cli/export_entry.h"
#include "cli/place.h"
#include "indexer/prepare.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/lint.h"

namespace kb {
namespace {

bool IsIn(const Diagnostics& findings, std::initializer_list<std::string_view> rules) {
  return std::any_of(findings.begin(), findings.end(), [&](const Diagnostic& found) {
    return std::find(rules.begin(), rules.end(), found.rule) != rules.end();
  });
}

// Why a skill's numbers must not be passed on, or "".
std::string DoubtAboutNumbers(const Diagnostics& findings) {
  if (IsIn(findings, {"cite-stale"})) return "it cites an entry that is stale or refuted";
  if (IsIn(findings, {"skill-unproved-number", "cite-missing"})) return "it has unproved numbers";
  return "";
}

std::string DoubtAbout(const Judged& judged, const Diagnostics& findings) {
  const Value& license = judged.document.front_matter["license"];
  if (judged.document.license.empty() && !license.IsList() && !license.IsMap()) {
    return "it states no licence";
  }
  if (judged.document.kind == Kind::kSkill) return DoubtAboutNumbers(findings);
  const bool stands = judged.state == "proved" || judged.state == "replicated";
  return stands ? "" : "it is " + judged.state;
}

// A skill with metadata of ours promises proofs in its pages too.
void AddPageFindings(const Judged& judged, LintContext context, Diagnostics* findings) {
  const Value::Map& metadata = judged.document.front_matter["metadata"].AsMap();
  context.strict_claims = std::any_of(metadata.begin(), metadata.end(), [](const auto& pair) {
    return pair.first.starts_with("kb-");
  });
  if (judged.document.kind != Kind::kSkill) return;
  for (const BundleFile& file : judged.bundle.files) {
    if (!file.path.ends_with(".md")) continue;
    const Diagnostics found = Lint(ParseDocument(file.path, file.bytes), context);
    findings->insert(findings->end(), found.begin(), found.end());
  }
}

std::string FirstBlockedOf(const Diagnostics& findings, const Bundle& bundle, bool allow) {
  std::string blocked = FirstBlocked(findings, allow);
  for (const BundleFile& file : bundle.files) {
    if (!blocked.empty()) return blocked;
    blocked = FirstBlockedIn(file, allow);
  }
  return blocked;
}

}  // namespace

ExportSelection::ExportSelection(const std::string& kb_dir, Scan scan, ExportOptions options)
    : kb_dir_(kb_dir), scan_(std::move(scan)), options_(std::move(options)) {
  std::vector<std::string> known;
  for (const ScannedFile& file : scan_.files) {
    const std::string disk = PathOnDisk(kb_dir_, file.path);
    const bool main = IsBundleIndex(file.path) && IsMainDocument(file.path, file.bundle);
    if (!main) continue;
    if (!bundles_.insert(std::string(DirName(file.path))).second)
      continue;  // skill.md beside SKILL.md
    auto text = ReadFile(disk);
    if (!text) continue;  // the scan's own finding
    const Document document = ParseDocument(disk, std::move(*text));
    if (document.kind == Kind::kNnk) {
      entry_states_.emplace(document.id, ExportState(document, Lint(document)));
    }
    known.push_back(document.id);
    candidates_.push_back(
        {file.path, std::string(DirName(disk)), document.id, document.kind, false});
  }
  if (!options_.ids.empty()) KeepNamed(known);
}

void ExportSelection::KeepNamed(const std::vector<std::string>& known) {
  for (const std::string& id : options_.ids) {
    bool found = false;
    const std::string folder = CataloguedPath(kb_dir_, id);
    for (ExportCandidate& candidate : candidates_) {
      const bool meant =
          candidate.id == id || candidate.path == folder || DirName(candidate.path) == folder;
      candidate.named = candidate.named || meant;
      found = found || meant;
    }
    if (found) continue;
    const std::string nearest = Nearest(id, known);
    throw Error("there is no skill or entry '" + id + "'" +
                (nearest.empty() ? "; kb search finds one by its content"
                                 : "; did you mean " + nearest + "?"));
  }
  std::erase_if(candidates_, [](const ExportCandidate& candidate) { return !candidate.named; });
}

std::string ExportSelection::StateOf(std::string_view id) const {
  const auto found = entry_states_.find(id);
  return found == entry_states_.end() ? "" : found->second;
}

Judged ExportSelection::Judge(const ExportCandidate& candidate) const {
  Judged judged;
  const std::string disk = PathOnDisk(kb_dir_, candidate.path);
  std::string why;
  auto text = ReadFile(disk, &why);
  if (!text) {
    judged.refused = "it cannot be read: " + why;
    return judged;
  }
  judged.document = ParseDocument(disk, std::move(*text));
  LintContext context;
  if (!entry_states_.empty()) {
    context.entry_state = [this](std::string_view id) { return StateOf(id); };
  }
  Diagnostics findings = Lint(judged.document, context);
  for (Diagnostic& found : findings) found.path = BaseName(candidate.path);
  const std::string folder(DirName(candidate.path));
  const auto is_other = [&](const std::string& below) {
    return bundles_.contains(folder.empty() ? below : folder + "/" + below);
  };
  judged.bundle = ReadBundle(candidate.folder, BaseName(candidate.path), candidate.kind, is_other);
  AddPageFindings(judged, context, &findings);
  if (candidate.kind == Kind::kNnk) judged.state = ExportState(judged.document, findings);
  const std::string blocked = FirstBlockedOf(findings, judged.bundle, options_.allow_suppressed);
  if (!blocked.empty()) {
    judged.refused = blocked + "; such a document is never exported";
    return judged;
  }
  judged.doubt = DoubtAbout(judged, findings);
  if (judged.doubt.empty() || candidate.named) return judged;
  judged.refused = judged.doubt + "; mend it, or name the id to export it all the same";
  return judged;
}

}  // namespace kb
