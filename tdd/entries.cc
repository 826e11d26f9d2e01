// Entries as news and records read them.
#include <algorithm>
#include <filesystem>

#include "kb/document.h"
#include "kb/file.h"
#include "tdd/news.h"

namespace kb {

namespace {
constexpr size_t kMaxEntries = 10000;
}

std::optional<KnownEntry> ReadEntry(const std::string& folder) {
  std::string trimmed = folder;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  std::optional<std::string> text = ReadFile(trimmed + "/NNK.md");
  if (!text) return std::nullopt;
  const Document document = ParseDocument(trimmed + "/NNK.md", std::move(*text));
  if (document.kind != Kind::kNnk || !document.front_matter.IsMap()) return std::nullopt;
  KnownEntry entry;
  entry.id = std::string(BaseName(trimmed));
  entry.folder = trimmed;
  entry.front_matter = document.front_matter;
  entry.evidence = ReadEvidence(trimmed).files;
  entry.state = StateFromEvidence(entry.front_matter, entry.evidence);
  return entry;
}

std::vector<KnownEntry> FindEntries(const std::string& nnk_folder, const std::string& case_name) {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  std::error_code error;
  fs::directory_iterator it(nnk_folder, error);
  while (!error && it != fs::directory_iterator() && folders.size() < kMaxEntries) {
    const std::string name = it->path().filename().string();
    if (it->is_directory(error) && !name.starts_with('.')) folders.push_back(it->path().string());
    it.increment(error);
  }
  std::sort(folders.begin(), folders.end());
  std::vector<KnownEntry> entries;
  for (const std::string& folder : folders) {
    std::optional<KnownEntry> entry = ReadEntry(folder);
    if (!entry) continue;
    const Value& of_case = entry->front_matter["case"];
    const std::string name = of_case.IsMap() ? of_case["name"].ToText() : of_case.ToText();
    if (case_name.empty() || name == case_name) entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace kb
