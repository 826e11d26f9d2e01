// Whether an entry still stands where it is read: case, files, toolkit and GPU may have moved on.
#include <algorithm>
#include <charconv>

#include "kb/document.h"
#include "kb/file.h"
#include "kb/sha256.h"
#include "tdd/record.h"

namespace kb {
namespace {

// "13.0" as 13000, "13.12" as 13012; 0 if it is no version.
int CudaNumber(std::string_view text) {
  int major = 0, minor = 0;
  const char* end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, major);
  if (error != std::errc() || major < 0 || major > 1000) return 0;
  if (dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  return major * 1000 + std::clamp(minor, 0, 999);
}

// "sm_90a" as 90; 0 if it is no architecture.
int ArchNumber(std::string_view text) {
  int number = 0;
  if (text.starts_with("sm_")) text.remove_prefix(3);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string ChangedFile(const KnownEntry& entry) {
  for (const auto& [name, sha256] : entry.front_matter["candidate"]["files_sha256"].AsMap()) {
    if (name.find("..") != std::string::npos || name.starts_with('/')) return name;
    const std::optional<std::string> bytes = ReadFile(entry.folder + "/candidate/" + name);
    if (!bytes || Sha256(*bytes) != sha256.AsString()) return name;
  }
  return "";
}

std::string WhyStale(const KnownEntry& entry, const Surroundings& now) {
  const Value& front = entry.front_matter;
  if (now.case_sha256.empty()) return "its case " + front["case"]["name"].ToText() + " is gone";
  if (now.case_sha256 != front["case"]["sha256"].ToText()) return "its case has changed since";
  if (const std::string name = ChangedFile(entry); !name.empty()) {
    return "candidate/" + Printable(name) + " has changed since";
  }
  int cuda = 0, arch = 0;
  for (const EvidenceFile& file : entry.evidence) {
    cuda = std::max(cuda, CudaNumber(file.value["environment"]["cuda"].ToText()));
    arch = std::max(arch, ArchNumber(file.value["environment"]["arch"].ToText()));
  }
  if (CudaNumber(now.cuda) > cuda) {
    return "CUDA " + Printable(now.cuda) + " is newer than that of all evidence";
  }
  const bool admits = MatchesArch(front["scope"]["arch"].ToText(), now.arch);
  if (!now.arch.empty() && admits && ArchNumber(now.arch) > arch) {
    return Printable(now.arch) + " is newer than the GPUs of all evidence";
  }
  return "";
}

}  // namespace

EntryState StateOf(const KnownEntry& entry, const Surroundings& now) {
  EntryState state = entry.state;
  if (state.state != "proved" && state.state != "replicated") return state;
  if (std::string why = WhyStale(entry, now); !why.empty()) {
    state.state = "stale";
    state.why = std::move(why);
  }
  return state;
}

EntryState StateOf(const std::string& entry_folder, const Case& of_case) {
  const std::optional<KnownEntry> entry = ReadEntry(entry_folder);
  if (!entry) return {"", "there is no NNK.md that can be read", {}};
  return StateOf(*entry, {of_case.sha256, "", ""});
}

std::vector<StaleEntry> StaleEntries(const std::string& nnk_folder, const std::string& cases_folder,
                                     const std::string& cuda, const std::string& arch) {
  std::vector<StaleEntry> stale;
  for (const KnownEntry& entry : FindEntries(nnk_folder, "")) {
    const std::string name = entry.front_matter["case"]["name"].ToText();
    Surroundings now = {"", cuda, arch};
    const bool safe = !name.empty() && name.find('/') == std::string::npos && name[0] != '.';
    if (safe) {
      std::string folder = cases_folder;
      const LoadedCase loaded = LoadCase(folder.append("/").append(name));
      if (loaded.ok()) now.case_sha256 = loaded.value.sha256;
    }
    const EntryState state = StateOf(entry, now);
    if (state.state == "proved" || state.state == "replicated") continue;
    stale.push_back({entry.id, state.state, state.why});
  }
  return stale;
}

}  // namespace kb
