// The rules of the Agent Skills specification (agentskills.io/specification), written anew from
// its text and sharing nothing with kb's own lint or export but the YAML parser.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "kb/utf8.h"
#include "kb/yaml.h"

namespace kb::test {

using Faults = std::vector<std::string>;

inline std::string Slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline size_t CodePoints(const std::string& text) {
  size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1;
  return n;
}

inline bool IsName(const std::string& name) {
  if (name.empty() || name.size() > 64) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool inner = i > 0 && i + 1 < name.size();
    if (!word && !(c == '-' && inner && name[i - 1] != '-')) return false;
  }
  return true;
}

inline void CheckText(const std::string& text, Faults& faults) {
  for (size_t i = 0; i < text.size();) {
    const int length = kb::Utf8Length(text, i);
    if (length == 0) return faults.push_back("not UTF-8");
    i += static_cast<size_t>(length);
  }
  if (text.find('\r') != std::string::npos) faults.push_back("CR");
  if (text.find('\0') != std::string::npos) faults.push_back("NUL");
}

inline void CheckOptional(const Value& front, const char* key, size_t max, Faults& faults) {
  if (!front.Has(key)) return;
  const Value& value = front[key];
  const bool blank = value.AsString().find_first_not_of(" \n\t") == std::string::npos;
  if (!value.IsString() || blank) faults.push_back(std::string(key) + " is no text");
  if (max > 0 && CodePoints(value.AsString()) > max)
    faults.push_back(std::string(key) + " too long");
}

inline void CheckKeys(const Value& front, const std::string& folder, Faults& faults) {
  static const std::set<std::string> kKeys = {"name",     "description",   "license",
                                              "metadata", "compatibility", "allowed-tools"};
  std::set<std::string> seen;
  for (const auto& [key, value] : front.AsMap()) {
    if (!kKeys.contains(key)) faults.push_back("unknown key " + key);
    if (!seen.insert(key).second) faults.push_back("repeated key " + key);
  }
  if (!front["name"].IsString() || !IsName(front["name"].AsString())) faults.push_back("bad name");
  if (front["name"].AsString() != folder) faults.push_back("name is not the folder's");
  if (!front.Has("description")) faults.push_back("no description");
  CheckOptional(front, "description", 1024, faults);
  CheckOptional(front, "license", 0, faults);
  CheckOptional(front, "compatibility", 500, faults);
  CheckOptional(front, "allowed-tools", 0, faults);
  const std::string tools = front["allowed-tools"].AsString();
  if (tools.find(", ") != std::string::npos) faults.push_back("allowed-tools has commas");
  if (front.Has("metadata") && !front["metadata"].IsMap()) faults.push_back("metadata is no map");
  for (const auto& [key, value] : front["metadata"].AsMap()) {
    if (!value.IsString()) faults.push_back("metadata " + key + " is no string");
  }
}

// What breaks the rules in the text of a SKILL.md of this folder; none: it conforms.
inline Faults CheckSkillText(const std::string& text, const std::string& folder) {
  Faults faults;
  CheckText(text, faults);
  const size_t end = text.find("\n---\n");
  if (!text.starts_with("---\n") || end == std::string::npos) return {"no front matter"};
  YamlError error;
  const auto front = ParseYaml(std::string_view(text).substr(4, end - 3), 1, &error);
  if (!front || !front->IsMap()) return {"front matter is no YAML map: " + error.message};
  CheckKeys(*front, folder, faults);
  const std::string body = text.substr(end + 5);
  if (body.find_first_not_of(" \n\t") == std::string::npos) faults.push_back("no body");
  if (std::count(body.begin(), body.end(), '\n') > 500) faults.push_back("body over 500 lines");
  if (body.size() / 4 > 5000) faults.push_back("body over 5,000 tokens");
  return faults;
}

// The same for a folder, and for what lies beside the SKILL.md.
inline Faults CheckSkillFolder(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  if (!fs::is_regular_file(folder / "SKILL.md")) return {"no SKILL.md"};
  Faults faults = CheckSkillText(Slurp(folder / "SKILL.md"), folder.filename().string());
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string below = entry.path().lexically_relative(folder).string();
    struct stat info = {};
    ::lstat(entry.path().c_str(), &info);
    if (S_ISDIR(info.st_mode)) continue;
    if (!S_ISREG(info.st_mode)) faults.push_back(below + " is no regular file");
    if ((info.st_mode & 0111) != 0 && !below.starts_with("scripts/")) {
      faults.push_back(below + " is executable");
    }
    if (entry.path().filename().string()[0] == '.') faults.push_back(below + " is hidden");
  }
  return faults;
}

}  // namespace kb::test
