#include "cli/export_bundle.h"

#include <strings.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "kb/file.h"
#include "kb/lint.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

bool StartsNoCase(std::string_view name, const char* prefix) {
  return strncasecmp(std::string(name).c_str(), prefix, std::char_traits<char>::length(prefix)) ==
         0;
}

bool IsMarkdown(std::string_view name) {
  const size_t dot = std::min(name.rfind('.'), name.size());
  const std::string end(name.substr(dot));
  return strcasecmp(end.c_str(), ".md") == 0 || strcasecmp(end.c_str(), ".markdown") == 0;
}

bool IsLicense(std::string_view name) {
  for (const char* prefix : {"license", "licence", "notice", "copying"}) {
    if (StartsNoCase(name, prefix)) return true;
  }
  return false;
}

bool IsSkipped(std::string_view name) {
  return name.empty() || name[0] == '.' || name == "node_modules" || name == "__pycache__";
}

// Whether a file comes along.
bool IsWanted(std::string_view path, Kind kind) {
  const size_t slash = path.find('/');
  const std::string_view top = slash == std::string_view::npos ? "" : path.substr(0, slash);
  const std::string_view name = BaseName(path);
  if (top == "evals") return false;
  if (kind == Kind::kNnk && (top == "candidate" || top == "evidence")) return true;
  if (top == "references" || top == "scripts" || top == "assets") return true;
  return IsMarkdown(name) || IsLicense(name);
}

// "" if a link leads to a regular file in the same bundle that is not hidden; else why not.
std::string WhyNotFollow(const fs::path& link, const fs::path& real_folder, fs::path* real) {
  std::error_code error;
  *real = fs::canonical(link, error);
  if (error) return "a link that leads nowhere";
  const fs::path below = real->lexically_relative(real_folder);
  if (below.empty() || *below.begin() == "..") return "a link that leaves the skill";
  for (const fs::path& part : below) {
    if (IsSkipped(part.string())) return "a link to a hidden file";
  }
  if (fs::is_directory(*real, error)) return "a link to a folder";
  return fs::is_regular_file(*real, error) ? "" : "a link to no regular file";
}

class BundleWalk {
 public:
  BundleWalk(std::string folder, std::string_view main, Kind kind,
             const std::function<bool(const std::string&)>& is_other, const BundleLimits& limits)
      : folder_(std::move(folder)),
        main_(main),
        kind_(kind),
        is_other_(is_other),
        limits_(limits) {}

  Bundle Run() {
    std::error_code error;
    real_folder_ = fs::canonical(folder_, error);
    ListFolder("", 0);
    std::sort(found_.begin(), found_.end());
    for (const std::string& path : found_) Read(path);
    return std::move(bundle_);
  }

 private:
  void LeaveOut(const std::string& path, std::string why) {
    bundle_.left_out.push_back({path, std::move(why)});
  }

  // Folders first in a list of their own: no recursion deeper than max_depth.
  void ListFolder(const std::string& below, int depth) {
    std::error_code error;
    fs::directory_iterator it(fs::path(folder_) / below, error);
    if (error) return LeaveOut(below.empty() ? "." : below, error.message());
    for (; it != fs::directory_iterator() && !full_; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (IsSkipped(name)) continue;
      std::string path = below.empty() ? "" : below + "/";
      path += name;
      const fs::file_type type = it->symlink_status(error).type();
      if (type == fs::file_type::directory) {
        if (is_other_(path)) continue;
        if (depth + 1 >= limits_.max_depth) {
          LeaveOut(path, "folders nested too deep");
        } else {
          ListFolder(path, depth + 1);
        }
      } else {
        AddPath(path);
      }
      if (error) return LeaveOut(path, error.message());
    }
  }

  void AddPath(const std::string& path) {
    if (path == main_ || !IsWanted(path, kind_)) return;
    const std::string_view name = BaseName(path);
    if (name.size() == 8 && StartsNoCase(name, "skill.md")) return;  // would pass for the skill
    if (path.size() > limits_.max_path || path.find_first_of("\n\r\\") != std::string::npos) {
      return LeaveOut(path, "a path too long or with odd characters");
    }
    if (static_cast<int>(found_.size()) >= limits_.max_files) {
      full_ = true;
      return LeaveOut(path, "more than " + std::to_string(limits_.max_files) + " files");
    }
    found_.push_back(path);
  }

  void Read(const std::string& path) {
    fs::path whole = fs::path(folder_) / path;
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(whole, error))) {
      fs::path real;
      const std::string why = WhyNotFollow(whole, real_folder_, &real);
      if (!why.empty()) return LeaveOut(path, why);
      whole = real;
    }
    std::string why;
    auto bytes = ReadFile(whole.string(), &why);
    if (!bytes) return LeaveOut(path, why);
    if (bytes->size() > limits_.max_bytes - used_) return LeaveOut(path, "the files are too large");
    used_ += bytes->size();
    struct stat info = {};
    const bool script = path.starts_with("scripts/") && ::stat(whole.c_str(), &info) == 0;
    bundle_.files.push_back(
        {Renamed(path), std::move(*bytes), script && (info.st_mode & 0100) != 0});
  }

  // The specification has no folders candidate/ and evidence/.
  [[nodiscard]] std::string Renamed(const std::string& path) const {
    const bool ours = path.starts_with("candidate/") || path.starts_with("evidence/");
    return kind_ == Kind::kNnk && ours ? "assets/" + path : path;
  }

  const std::string folder_;
  const std::string_view main_;
  const Kind kind_;
  const std::function<bool(const std::string&)>& is_other_;
  const BundleLimits& limits_;
  fs::path real_folder_;
  std::vector<std::string> found_;
  size_t used_ = 0;
  bool full_ = false;
  Bundle bundle_;
};

}  // namespace

Bundle ReadBundle(const std::string& folder, std::string_view main, Kind kind,
                  const std::function<bool(const std::string&)>& is_other,
                  const BundleLimits& limits) {
  return BundleWalk(folder, main, kind, is_other, limits).Run();
}

std::string FirstBlocked(const Diagnostics& findings, bool allow_suppressed) {
  for (const Diagnostic& found : findings) {
    const bool suppressed = found.rule == "lint-suppressed" && !allow_suppressed;
    if (found.severity != Severity::kBlock && !suppressed) continue;
    const std::string line = found.line > 0 ? ":" + std::to_string(found.line) : "";
    return found.path + line + " breaks " +
           (suppressed ? found.message.substr(0, found.message.find(' ')) +
                             ", which the document itself allows (--allow-suppressed takes that)"
                       : found.rule);
  }
  return "";
}

std::string FirstBlockedIn(const BundleFile& file, bool allow_suppressed) {
  const std::string_view start = std::string_view(file.bytes).substr(0, 8000);  // as git tells text
  if (start.find('\0') != std::string_view::npos) return "";
  return FirstBlocked(LintSafety(ParseDocument(file.path, file.bytes)), allow_suppressed);
}

}  // namespace kb
