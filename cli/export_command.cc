// kb export. Reads the Markdown below its roots from disk, not the index, so that what leaves is
// what is there now. With --json one value: {target, layout, written (false: nothing may leave, the
// target is as it was), skills: [{name, id, kind, folder, license, state, files}...], refused,
// left_out, doubtful (exported because named): [{id, path, reason}...] each}.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

#include "cli/export_entry.h"
#include "cli/export_manifests.h"
#include "cli/export_select.h"
#include "cli/export_tree.h"
#include "cli/freshness.h"
#include "cli/place.h"
#include "cli/progress.h"
#include "cli/run_commands.h"
#include "indexer/scan.h"
#include "kb/catalog.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"

namespace kb {
namespace {

struct Named {
  std::string id, path, reason;
};

struct ExportReport {
  std::vector<ExportedSkill> skills;
  std::vector<Named> refused, left_out, notes;
  bool written = false;
};

// What index was last given, so that one need not say it twice.
std::string RememberedRoots(const std::string& kb_dir) {
  try {
    Catalog catalog(kb_dir, Catalog::Mode::kRead);
    return catalog.Meta("roots");
  } catch (const Error&) {
    return "";
  }
}

Scan ScanFor(const Args& args, const std::string& kb_dir) {
  std::vector<std::string> roots = args.All("--root");
  const std::string remembered = RememberedRoots(kb_dir);
  if (roots.empty() && remembered.empty()) roots = DefaultRoots();
  if (roots.empty() && remembered.empty()) {
    throw Error("no skills or nnk folder here; name what to export: kb export --root FOLDER");
  }
  return ScanRoots(kb_dir, roots, remembered);
}

bool IsAtOrBelow(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::string below = path.lexically_relative(folder).string();
  return !below.empty() && below != ".." && !below.starts_with("../");
}

// A root inside the target would be thrown away by the next export, and a target inside a root
// would be indexed.
void CheckApart(const std::string& kb_dir, const Scan& scan, const std::string& target) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path to = fs::weakly_canonical(fs::absolute(target), error);
  for (const std::string& root : scan.roots) {
    const fs::path from = fs::weakly_canonical(PathOnDisk(kb_dir, root), error);
    if (!IsAtOrBelow(to, from) && !IsAtOrBelow(from, to)) continue;
    std::string message = target;
    message.append(" and the root ").append(root);
    throw Error(message.append(" lie in each other; name a folder elsewhere"));
  }
}

std::string PluginName(const Args& args) {
  std::string name = args.Get("--name", "cuda-kernel-knowledge");
  const std::string conformant = ConformantName(name);
  if (conformant == name) return name;
  throw Error("--name takes 1-64 of a-z, 0-9 and single hyphens" +
              (conformant.empty() ? std::string() : ", such as " + conformant));
}

// The name of a file that no other has: "continued.md", "continued-2.md", ...
std::string FreeName(const std::vector<BundleFile>& files) {
  for (int i = 1;; ++i) {
    std::string name = i == 1 ? "continued.md" : "continued-" + std::to_string(i) + ".md";
    const auto is_it = [&](const BundleFile& file) { return file.path == name; };
    if (std::none_of(files.begin(), files.end(), is_it)) return name;
  }
}

// The SKILL.md; what is too much for one is added to `files`.
std::string SkillText(const Judged& judged, const SkillFront& front,
                      std::vector<BundleFile>* files) {
  const Document& document = judged.document;
  std::string body = document.kind == Kind::kNnk ? EntryBody(document, judged.state, *files)
                                                 : CleanText(document.body);
  if (body.empty()) body = "# " + OneLine(document.title, 200) + "\n";
  SplitBody split = BoundBody(body, document.title);
  if (!split.rest.empty()) {
    const std::string name = FreeName(*files);
    split.head += "\nThe rest of this skill is in [" + name + "](" + name + ").\n";
    files->push_back({name, std::move(split.rest), false});
  }
  return WriteFront(front) + split.head;
}

void ExportOne(const ExportCandidate& candidate, Judged judged, const std::string& skills_folder,
               ExportTree& tree, ExportReport& report) {
  const SkillFront front = candidate.kind == Kind::kNnk ? EntryFront(judged.document, judged.state)
                                                        : ConformantFront(judged.document);
  const auto same = [&](const ExportedSkill& other) { return other.name == front.name; };
  if (front.name.empty() || std::any_of(report.skills.begin(), report.skills.end(), same)) {
    const std::string why = front.name.empty()
                                ? "its name has no letter or digit of a-z, 0-9; rename it"
                                : "the name " + front.name + " is taken by another one; rename it";
    report.refused.push_back({candidate.id, candidate.path, why});
    return;
  }
  std::vector<BundleFile> files = std::move(judged.bundle.files);
  ExportedSkill skill = {front.name,
                         candidate.id,
                         skills_folder + "/" + front.name,
                         candidate.kind,
                         front.description,
                         front.license,
                         judged.state,
                         "",
                         1};
  skill.text = SkillText(judged, front, &files);
  tree.Add(skill.folder + "/SKILL.md", skill.text);
  for (const BundleFile& file : files) {
    tree.Add(skill.folder + "/" + file.path, file.bytes, file.executable);
  }
  skill.files += static_cast<int>(files.size());
  if (!judged.doubt.empty()) {
    report.notes.push_back({candidate.id, candidate.path, judged.doubt});
  }
  for (const LeftOut& left : judged.bundle.left_out) {
    report.left_out.push_back(
        {candidate.id, std::string(DirName(candidate.path)) + "/" + left.path, left.why});
  }
  report.skills.push_back(std::move(skill));
}

std::string DigestOf(const ExportTree& tree) {
  std::string lines;
  for (const auto& [path, sha256] : tree.sha256_by_path()) {
    lines.append(sha256).append("  ").append(path).append("\n");
  }
  return Sha256(lines);
}

void ExportAll(const ExportSelection& selection, const ExportLayout& layout,
               const std::string& plugin, ExportTree& tree, Progress& progress,
               ExportReport& report) {
  const std::string folder = SkillsFolder(layout, plugin);
  int64_t done = 0;
  for (const ExportCandidate& candidate : selection.candidates()) {
    Judged judged = selection.Judge(candidate);
    progress.Show("export", ++done, static_cast<int64_t>(selection.candidates().size()));
    if (judged.refused.empty()) {
      ExportOne(candidate, std::move(judged), folder, tree, report);
    } else {
      report.refused.push_back({candidate.id, candidate.path, judged.refused});
    }
  }
  if (report.skills.empty()) return;
  TextFiles files = IndexFiles(report.skills, folder);
  if (layout.skills[0] == '\0') {
    for (auto& file : PluginFiles(report.skills, plugin, DigestOf(tree))) files.push_back(file);
  }
  for (const auto& [path, bytes] : files) tree.Add(path, bytes);
  tree.Commit();
  report.written = true;
}

Value ReasonsJson(const std::vector<Named>& list) {
  Value::List json;
  for (const Named& item : list) {
    json.push_back(
        Value(Value::Map{{"id", item.id}, {"path", item.path}, {"reason", item.reason}}));
  }
  return Value(std::move(json));
}

Value ReportJson(const ExportReport& report, const std::string& target, const char* layout) {
  Value::List skills;
  for (const ExportedSkill& skill : report.skills) {
    skills.push_back(Value(Value::Map{{"name", skill.name},
                                      {"id", skill.id},
                                      {"kind", KindName(skill.kind)},
                                      {"folder", skill.folder},
                                      {"license", skill.license},
                                      {"state", skill.state},
                                      {"files", skill.files}}));
  }
  return Value(Value::Map{{"target", target},
                          {"layout", layout},
                          {"written", report.written},
                          {"skills", Value(std::move(skills))},
                          {"refused", ReasonsJson(report.refused)},
                          {"left_out", ReasonsJson(report.left_out)},
                          {"doubtful", ReasonsJson(report.notes)}});
}

void Say(const std::vector<Named>& list, const char* what, Streams& streams) {
  for (const Named& item : list) {
    streams.talk << Printable(std::string("kb export: ") + what + " " +
                              (item.id.empty() ? "" : item.id + " ") + "(" + item.path +
                              "): " + item.reason)
                 << '\n';
  }
}

}  // namespace

int RunExport(const Args& args, Streams& streams) {
  if (!args.Has("--to")) throw Error("needs --to DIR: a new or empty folder for the export");
  const std::string target = args.Get("--to");
  const ExportLayout* layout = FindLayout(args.Get("--layout", "agents"));
  if (layout == nullptr) throw Error("--layout takes agents, claude, cursor, github or plugin");
  const std::string plugin = PluginName(args);
  const std::string kb_dir = FindKbDir(args);
  Scan scan = ScanFor(args, kb_dir);
  CheckApart(kb_dir, scan, target);
  ExportReport report;
  for (const Diagnostic& found : scan.diagnostics) {
    if (LeavesOut(found)) report.left_out.push_back({"", found.path, found.message});
  }
  ExportOptions options;
  for (std::string& id : args.All("ID")) options.ids.insert(std::move(id));
  options.allow_suppressed = args.Has("--allow-suppressed");
  const ExportSelection selection(kb_dir, std::move(scan), std::move(options));
  ExportTree tree(target, args.Has("--force"));
  Progress progress(streams);
  ExportAll(selection, *layout, plugin, tree, progress, report);
  progress.Clear();
  Say(report.refused, "refused", streams);
  Say(report.left_out, "left out", streams);
  if (!streams.quiet) Say(report.notes, "note: exported by name though in doubt:", streams);
  if (args.Has("--json")) {
    streams.out << WriteJson(ReportJson(report, target, layout->name), 2) << '\n';
  } else if (report.written) {
    streams.out << report.skills.size() << " skills in " << Printable(target) << '/'
                << SkillsFolder(*layout, plugin) << '\n';
  }
  if (!report.written) {
    streams.talk << "kb export: nothing may leave; " << Printable(target) << " is as it was\n";
  }
  return report.written && report.refused.empty() && report.left_out.empty() ? kFound : kNothing;
}

}  // namespace kb
