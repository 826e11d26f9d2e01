#include "cli/mcp_skills.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cli/mcp_cursor.h"
#include "cli/mcp_resources.h"
#include "cli/place.h"
#include "indexer/context.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"
#include "kb/utf8.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

// Limits of the extension: every host must support skills up to these.
constexpr size_t kMostFiles = 512;
constexpr int64_t kMostBytes = 16 << 20;
constexpr int kMostDepth = 16;
constexpr size_t kSkillsPerStep = 16;

struct Skill {
  CatalogDocument document;
  std::string folder;  // as catalogued
  std::string uri;     // of the folder: skill://NAME
};

struct SkillFile {
  std::string uri;
  int64_t row = 0;   // of the catalog; 0: on disk
  std::string path;  // on disk
};

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '-' || name.back() == '-') return false;
  if (name.find("--") != std::string_view::npos) return false;
  return std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

// A conformant skill, whose name is its folder's and not yet taken.
bool IsServed(const CatalogDocument& document, const std::set<std::string>& taken) {
  const std::string folder(DirName(document.path));
  return document.kind == Kind::kSkill && BaseName(document.path) == "SKILL.md" &&
         IsName(document.id) && BaseName(folder) == document.id && !taken.contains(document.id);
}

// A folder with a blocked document is not served at all: who wrote that wrote the rest.
std::vector<Skill> ServedSkills(const std::vector<CatalogDocument>& documents) {
  std::set<std::string> taken;
  std::vector<std::string> blocked;
  for (const CatalogDocument& document : documents) {
    if (document.blocked) blocked.push_back(document.path);
  }
  std::vector<Skill> skills;
  for (const CatalogDocument& document : documents) {
    if (!IsServed(document, taken)) continue;
    std::string folder(DirName(document.path));
    const auto is_below = [&](const std::string& path) { return path.starts_with(folder + "/"); };
    if (std::ranges::any_of(blocked, is_below)) continue;
    taken.insert(document.id);
    skills.push_back({document, std::move(folder), "skill://" + document.id});
  }
  return skills;
}

bool IsMarkdown(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return extension == ".md" || extension == ".markdown";
}

// Regular files below the skill's folder that are no Markdown; hidden ones and links are not
// of the skill.
std::vector<std::string> OtherFiles(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const bool is_hidden = at->path().filename().string().starts_with(".");
    if (at->is_symlink(error) || is_hidden || at.depth() >= kMostDepth) {
      at.disable_recursion_pending();
    } else if (at->is_regular_file(error) && !IsMarkdown(at->path())) {
      files.push_back(fs::path(at->path()).lexically_relative(folder).generic_string());
      if (files.size() > kMostFiles) break;
    }
  }
  return files;
}

std::vector<SkillFile> FilesOf(const McpCall& call, const Skill& skill,
                               const std::vector<CatalogDocument>& documents) {
  std::map<std::string, SkillFile> files;  // by path within the skill
  const std::string prefix = skill.folder + "/";
  auto at = std::ranges::lower_bound(documents, prefix, {}, &CatalogDocument::path);
  for (; at != documents.end() && at->path.starts_with(prefix); ++at) {
    const std::string path = at->path.substr(prefix.size());
    files[path] = {skill.uri + "/" + PercentEncode(path), at->row, ""};
  }
  const std::string folder = PathOnDisk(call.index.kb_dir(), skill.folder);
  for (const std::string& path : OtherFiles(folder)) {
    files.try_emplace(path, SkillFile{skill.uri + "/" + PercentEncode(path), 0,
                                      (fs::path(folder) / path).string()});
  }
  std::vector<SkillFile> list;
  for (auto& [path, file] : files) list.push_back(std::move(file));
  return list;
}

struct Shelf {  // of one request
  Catalog* catalog = nullptr;
  std::vector<CatalogDocument> documents;
  std::vector<Skill> skills;

  [[nodiscard]] std::string TextOf(int64_t row) const {
    return catalog == nullptr ? "" : catalog->Text(row);
  }
};

Shelf OpenShelf(McpCall& call) {
  Retriever* retriever = call.index.OpenIfAny();
  if (retriever == nullptr) return {};
  Shelf shelf = {&retriever->catalog(), retriever->catalog().Documents(), {}};
  shelf.skills = ServedSkills(shelf.documents);
  return shelf;
}

// nullopt if it has gone or is too large.
std::optional<std::string> BytesOf(const Shelf& shelf, const SkillFile& file) {
  return file.row != 0 ? shelf.TextOf(file.row) : ReadFile(file.path, nullptr, kMostBytes);
}

// The skill's entry; null if it is not conformant or breaks a limit.
Value EntryOf(const McpCall& call, const Shelf& shelf, const Skill& skill) {
  const Document document = ParseDocument(skill.document.path, shelf.TextOf(skill.document.row));
  const Value& front = document.front_matter;
  if (front["name"].AsString() != skill.document.id || front["description"].AsString().empty()) {
    return {};
  }
  Value::List resources;
  int64_t total = 0;
  for (const SkillFile& file : FilesOf(call, skill, shelf.documents)) {
    const auto bytes = BytesOf(shelf, file);
    if (!bytes) return {};
    total += static_cast<int64_t>(bytes->size());
    if (total > kMostBytes || resources.size() == kMostFiles) return {};
    resources.push_back(Value(Value::Map{{"uri", file.uri},
                                         {"digest", "sha256:" + Sha256(*bytes)},
                                         {"size", static_cast<int64_t>(bytes->size())}}));
  }
  return Value(Value::Map{{"uri", skill.uri + "/SKILL.md"},
                          {"frontmatter", front},
                          {"resources", Value(std::move(resources))}});
}

const char* MimeOf(std::string_view path) {
  constexpr std::pair<std::string_view, const char*> kTypes[] = {
      {".md", "text/markdown"},      {".json", "application/json"}, {".py", "text/x-python"},
      {".sh", "text/x-shellscript"}, {".cu", "text/plain"},         {".cuh", "text/plain"},
      {".txt", "text/plain"},        {".yaml", "application/yaml"}, {".png", "image/png"}};
  for (const auto& [extension, type] : kTypes) {
    if (path.ends_with(extension)) return type;
  }
  return "application/octet-stream";
}

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += i + j > bytes.size() ? '=' : kDigits[group >> (18 - 6 * j) & 63];
    }
  }
  return out;
}

bool IsUtf8(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const int length = Utf8Length(bytes, at);
    if (length == 0) return false;
    at += static_cast<size_t>(length);
  }
  return true;
}

const Skill* SkillOfFile(const Shelf& shelf, const std::string& uri) {
  for (const Skill& skill : shelf.skills) {
    if (uri.starts_with(skill.uri + "/")) return &skill;
  }
  return nullptr;
}

Value ChildJson(const std::string& uri, bool is_folder) {
  std::string name = PercentDecode(BaseName(uri));
  const char* mime = is_folder ? "inode/directory" : MimeOf(name);
  return Value(Value::Map{{"uri", uri}, {"name", EscapeDelimiters(name)}, {"mimeType", mime}});
}

// The direct children of the folder, by URI; nullopt if it is none.
std::optional<std::map<std::string, Value>> ChildrenOf(const McpCall& call, const Shelf& shelf,
                                                       const std::string& uri) {
  std::map<std::string, Value> children;
  for (const Skill& skill : shelf.skills) {
    if (uri != skill.uri && !uri.starts_with(skill.uri + "/")) continue;
    for (const SkillFile& file : FilesOf(call, skill, shelf.documents)) {
      if (!file.uri.starts_with(uri + "/")) continue;
      const size_t slash = file.uri.find('/', uri.size() + 1);
      const std::string child = file.uri.substr(0, slash);
      children.try_emplace(child, ChildJson(child, slash != std::string::npos));
    }
  }
  return children.empty() ? std::nullopt : std::optional(std::move(children));
}

}  // namespace

RpcResult ListSkills(McpCall& call) {
  const Shelf shelf = OpenShelf(call);
  const auto from = ReadCursor(call.params, "skills/list", call.index.openings());
  if (!from) return RpcError{kInvalidParams, "unknown cursor; list anew without one"};
  Value::Map result;
  Value::List list;
  size_t bytes = 0;
  for (size_t i = *from; i < shelf.skills.size(); ++i) {
    Value entry = EntryOf(call, shelf, shelf.skills[i]);
    if (entry.IsNull()) continue;
    bytes += WriteJson(entry).size();
    if (!list.empty() && (list.size() == kMaxPageItems || bytes > kMaxPageBytes)) {
      result.emplace_back("nextCursor", WriteCursor({"skills/list", call.index.openings(), i}));
      break;
    }
    list.push_back(std::move(entry));
    const bool is_time = i % kSkillsPerStep == kSkillsPerStep - 1;
    if (is_time &&
        !call.step(static_cast<int>(i), static_cast<int>(shelf.skills.size()), "skills")) {
      break;
    }
  }
  result.emplace_back("skills", Value(std::move(list)));
  return Cacheable(std::move(result), kIndexTtlMs);
}

RpcResult GetSkill(McpCall& call) {
  const std::string& uri = call.params["uri"].AsString();
  const Shelf shelf = OpenShelf(call);
  for (const Skill& skill : shelf.skills) {
    if (uri != skill.uri + "/SKILL.md") continue;
    Value entry = EntryOf(call, shelf, skill);
    if (!entry.IsNull()) return Cacheable({{"skill", std::move(entry)}}, kIndexTtlMs);
  }
  return RpcError{kInvalidParams, "no skill is served at '" + BoundedLine(uri, 200) + "'"};
}

RpcResult ReadDirectory(McpCall& call) {
  const std::string& uri = call.params["uri"].AsString();
  const Shelf shelf = OpenShelf(call);
  const auto children = ChildrenOf(call, shelf, uri);
  if (!children) {
    return RpcError{kInvalidParams, "'" + BoundedLine(uri, 200) + "' is no directory resource"};
  }
  const auto from = ReadCursor(call.params, "directory " + uri, call.index.openings());
  if (!from) return RpcError{kInvalidParams, "unknown cursor; read anew without one"};
  Value::List list;
  size_t seen = 0;
  for (const auto& [name, child] : *children) {
    if (seen++ >= *from && list.size() < kMaxPageItems) list.push_back(child);
  }
  Value::Map result;
  const size_t next = *from + list.size();
  if (next < children->size()) {
    result.emplace_back("nextCursor",
                        WriteCursor({"directory " + uri, call.index.openings(), next}));
  }
  result.emplace_back("resources", Value(std::move(list)));
  return Cacheable(std::move(result), kIndexTtlMs);
}

RpcResult ReadSkillFile(McpCall& call, const std::string& uri) {
  const Shelf shelf = OpenShelf(call);
  const Skill* skill = SkillOfFile(shelf, uri);
  if (skill == nullptr) return UnknownResource(uri);
  for (const SkillFile& file : FilesOf(call, *skill, shelf.documents)) {
    if (file.uri != uri) continue;
    auto bytes = BytesOf(shelf, file);
    if (!bytes) break;
    const char* mime = MimeOf(uri);
    if (IsUtf8(*bytes)) return Cacheable(TextContents(uri, std::move(*bytes), mime), kIndexTtlMs);
    Value content(Value::Map{{"uri", uri}, {"mimeType", mime}, {"blob", Base64(*bytes)}});
    return Cacheable({{"contents", Value(Value::List{std::move(content)})}}, kIndexTtlMs);
  }
  return UnknownResource(uri);
}

}  // namespace kb
