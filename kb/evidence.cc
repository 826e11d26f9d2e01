#include "kb/evidence.h"

#include <algorithm>
#include <filesystem>

#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxEvidenceBytes = 8 << 20;
constexpr int kMaxEvidenceFiles = 1000;
constexpr size_t kDigits = 12;  // of the digest, in a file's name

Value Sorted(const Value& value) {
  if (value.IsList()) {
    Value::List list;
    for (const Value& item : value.AsList()) list.push_back(Sorted(item));
    return Value(std::move(list));
  }
  if (!value.IsMap()) return value;
  Value::Map map;
  for (const auto& [key, item] : value.AsMap()) map.emplace_back(key, Sorted(item));
  std::stable_sort(map.begin(), map.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return Value(std::move(map));
}

std::string Slug(std::string_view text) {
  std::string slug;
  for (const char c : text.substr(0, 64)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool word = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (word) slug += lower;
    if (!word && !slug.empty() && slug.back() != '-') slug += '-';
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "no-gpu" : slug;
}

// What is wrong with the file, or "" and `*file` filled.
std::string ReadOne(const fs::path& path, EvidenceFile* file) {
  std::error_code error;
  if (fs::is_symlink(path, error)) return "it is a symlink";
  std::string why;
  const std::optional<std::string> text = ReadFile(path.string(), &why, kMaxEvidenceBytes);
  if (!text) return why;
  std::optional<Value> value = ParseJson(*text, &why);
  if (!value) return "it is no JSON: " + why;
  if ((*value)["kb"].AsString() != "evaluation/1") return "it is no evaluation/1";
  file->name = path.filename().string();
  file->digest = EvidenceDigest(*value);
  file->value = std::move(*value);
  const std::string digits = file->digest.substr(0, kDigits);
  if (file->name.ends_with("-" + digits + ".json")) return "";
  return "its content has the digest " + digits + ", not the one in its name: it was edited";
}

std::vector<fs::path> JsonFiles(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  while (!error && it != fs::directory_iterator()) {
    if (it->path().extension() == ".json") paths.push_back(it->path());
    it.increment(error);
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::string CanonicalJson(const Value& value) { return WriteJson(Sorted(value)); }

std::string EvidenceDigest(const Value& evaluation) {
  Value::Map kept;
  for (const auto& [key, value] : evaluation.AsMap()) {
    if (key != "created") kept.emplace_back(key, value);
  }
  return Sha256(CanonicalJson(Value(std::move(kept))));
}

std::string EvidenceFileName(const Value& evaluation) {
  return Slug(evaluation["environment"]["gpu"].AsString()) + "-" +
         EvidenceDigest(evaluation).substr(0, kDigits) + ".json";
}

EvidenceFolder ReadEvidence(const std::string& entry_folder) {
  EvidenceFolder folder;
  const auto fault = [&](const fs::path& path, std::string message) {
    folder.faults.push_back({Severity::kError, "nnk-evidence-digest", path.string(), 0,
                             std::move(message), "restore the file, or run kb tdd prove"});
  };
  for (const fs::path& path : JsonFiles(fs::path(entry_folder) / "evidence")) {
    if (++folder.found > kMaxEvidenceFiles) {
      fault(path, "there are more than " + std::to_string(kMaxEvidenceFiles) + " files");
      break;
    }
    EvidenceFile file;
    const std::string wrong = ReadOne(path, &file);
    if (wrong.empty()) {
      folder.files.push_back(std::move(file));
    } else {
      fault(path, "evidence/" + Printable(path.filename().string()) + ": " + wrong);
    }
  }
  std::stable_sort(folder.files.begin(), folder.files.end(), [](const auto& a, const auto& b) {
    return a.value["created"].AsString() < b.value["created"].AsString();
  });
  return folder;
}

}  // namespace kb
