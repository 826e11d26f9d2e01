#include "cli/export_entry.h"

#include <algorithm>

#include "kb/file.h"
#include "kb/json.h"
#include "kb/nnk.h"

namespace kb {
namespace {

constexpr size_t kMaxCode = 8 << 10;  // of a candidate shown in the body
constexpr size_t kMaxEvidence = 20;   // files named

std::string Text(const Value& value) {
  if (value.IsMap() || value.IsList()) return WriteJson(value);
  return OneLine(value.ToText());
}

// "sm_90, CUDA >=12.0, bf16; M >= 1024".
std::string ScopeLine(const Value& scope) {
  std::string line;
  for (const auto& [key, value] : scope.AsMap()) {
    const std::string text = Text(value);
    if (!text.empty()) line += (line.empty() ? "" : "; ") + OneLine(key) + " " + text;
  }
  return line.empty() ? OneLine(scope.ToText()) : line;
}

bool Stands(const std::string& state) { return state == "proved" || state == "replicated"; }

void AddLine(std::string& text, const char* label, const std::string& value) {
  if (!value.empty()) text += std::string("- ") + label + ": " + value + "\n";
}

std::string EvidenceSection(const Document& entry, const std::string& state,
                            const std::vector<BundleFile>& files) {
  const Value& best = entry.front_matter["best"];
  const Value& red = entry.front_matter["red"];
  std::string text = "\n## Evidence\n\n";
  AddLine(text, "state", state);
  AddLine(text, "GPU", Text(best["gpu"]));
  AddLine(text, "median, us", Text(best["median_us"]));
  AddLine(text, "baseline", Text(best["baseline"]));
  AddLine(text, "speedup", Text(best["speedup"]));
  AddLine(text, "95 % interval of the speedup", Text(best["ci95"]));
  AddLine(text, "percent of the roofline", Text(best["percent_of_roofline"]));
  AddLine(text, "wrong kernels that its test must reject", Text(red));
  AddLine(text, "sanitizer", Text(entry.front_matter["sanitizer"]));
  size_t named = 0;
  for (const BundleFile& file : files) {
    if (!file.path.starts_with("assets/evidence/")) continue;
    if (++named <= kMaxEvidence) text += "- `" + OneLine(file.path) + "`\n";
  }
  if (named > kMaxEvidence) {
    text += "- and " + std::to_string(named - kMaxEvidence) + " more below `assets/evidence/`\n";
  }
  return text;
}

bool HasCode(const Document& entry) {
  return std::any_of(entry.blocks.begin(), entry.blocks.end(),
                     [](const Block& block) { return block.type == BlockType::kCode; });
}

bool IsSource(const BundleFile& file) {
  const std::string_view name = BaseName(file.path);
  const std::string_view end = name.substr(std::min(name.rfind('.'), name.size()));
  return file.path.starts_with("assets/candidate/") &&
         (end == ".cu" || end == ".cuh" || end == ".cpp" || end == ".py" || end == ".h");
}

// The smallest source of the candidate, if the entry's text shows no code itself.
std::string CodeSection(const Document& entry, const std::vector<BundleFile>& files) {
  const BundleFile* smallest = nullptr;
  for (const BundleFile& file : files) {
    if (!IsSource(file) || file.bytes.size() > kMaxCode) continue;
    if (smallest == nullptr || file.bytes.size() < smallest->bytes.size()) smallest = &file;
  }
  if (HasCode(entry) || smallest == nullptr) return "";
  size_t longest = 0, run = 0;  // of backticks: the fence must be longer
  for (const char c : smallest->bytes) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(std::max<size_t>(3, longest + 1), '`');
  const std::string_view name = BaseName(smallest->path);
  const char* const tag = name.ends_with(".py") ? "python" : "cuda fragment";
  return "\n## Code\n\nFrom `" + OneLine(smallest->path) + "`:\n\n" + fence + tag + "\n" +
         CleanText(smallest->bytes) + fence + "\n";
}

}  // namespace

std::string ExportState(const Document& entry, const Diagnostics& findings) {
  if (!IsNnkState(entry.state)) return "unproved";
  if (!Stands(entry.state)) return entry.state;
  const bool broken = std::any_of(findings.begin(), findings.end(), [](const Diagnostic& found) {
    return found.severity == Severity::kError && found.rule.starts_with("nnk-");
  });
  return broken ? "unproved" : entry.state;
}

SkillFront EntryFront(const Document& entry, const std::string& state) {
  const Value& front = entry.front_matter;
  SkillFront out;
  out.name = ConformantName(entry.id);
  const std::string scope = ScopeLine(front["scope"]);
  std::string about = Stands(state) ? "" : "Not to be relied on (" + state + "). ";
  about += OneLine(entry.description.empty() ? entry.title : entry.description);
  if (about.find_last_of(".!?") != about.size() - 1) about += '.';
  if (!scope.empty()) about += " Use when this applies: " + scope + ".";
  const std::string not_when = Text(front["not_when"]);
  if (!not_when.empty()) about += " Not when: " + not_when;
  out.description = OneLine(about, 1024);
  out.license = OneLine(entry.license);
  if (!entry.scope.arch.empty()) out.AddMetadata("kb-arch", entry.scope.arch);
  if (!entry.scope.cuda.empty()) out.AddMetadata("kb-cuda", entry.scope.cuda);
  std::string dtypes;
  for (const std::string& dtype : entry.scope.dtypes) dtypes += (dtypes.empty() ? "" : " ") + dtype;
  if (!dtypes.empty()) out.AddMetadata("kb-dtype", dtypes);
  out.AddMetadata("kb-evidence", entry.id);
  out.AddMetadata("state", state);
  if (const std::string author = Text(front["provenance"]["author"]); !author.empty()) {
    out.AddMetadata("author", author);
  }
  return out;
}

std::string EntryBody(const Document& entry, const std::string& state,
                      const std::vector<BundleFile>& files) {
  const Value& front = entry.front_matter;
  std::string text = "# " + OneLine(entry.title, 200) + "\n\n";
  const std::string claim = Text(front["claim"]);
  if (!claim.empty())
    text += "**Claim** (" + state + "): " + claim + " [nnk:" + OneLine(entry.id) + "]\n\n";
  const std::string scope = ScopeLine(front["scope"]);
  if (!scope.empty()) text += "**Applies to**: " + scope + "\n\n";
  const std::string not_when = Text(front["not_when"]);
  if (!not_when.empty()) text += "**Not when**: " + not_when + "\n\n";
  text += CleanText(entry.body);
  text += CodeSection(entry, files);
  text += EvidenceSection(entry, state, files);
  return text +
         "\n## How to check\n\nIn the knowledge base that this comes from: `kb tdd prove nnk/" +
         OneLine(entry.id) + "` measures it again.\n";
}

}  // namespace kb
