// The Agent Skills specification (agentskills.io), and our keys under `metadata`.
#include <algorithm>
#include <filesystem>

#include "kb/file.h"
#include "kb/lint_internal.h"

namespace kb {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kMaxDescription = 1024, kMaxCompatibility = 500;
constexpr int kMaxBodyLines = 500;
constexpr int kMaxLinks = 2000;
constexpr size_t kMaxBodyTokens = 5000, kBytesPerToken = 4;

// Characters as the specification counts them: code points.
size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool IsSkillName(std::string_view name) {
  if (name.empty() || name.size() > 64 || name.front() == '-' || name.back() == '-') return false;
  if (name.find("--") != kNone) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-'; });
}

class SkillCheck {
 public:
  SkillCheck(const LintSource& source, LintReport& report)
      : document_(source.document), front_(document_.front_matter), report_(report) {}

  void Run() {
    CheckName();
    CheckDescription();
    CheckOptionalText("license", "skill-license", 0);
    CheckOptionalText("compatibility", "skill-compatibility", kMaxCompatibility);
    if (front_.Has("allowed-tools") && !front_["allowed-tools"].IsString()) {
      Add("skill-allowed-tools", "allowed-tools",
          std::string("allowed-tools is of type ") + front_["allowed-tools"].TypeName());
    } else if (front_["allowed-tools"].AsString().find(',') != kNone &&
               !HasCommaInParentheses(front_["allowed-tools"].AsString())) {
      Add("skill-allowed-tools", "allowed-tools", "allowed-tools is separated by commas");
    }
    CheckKeys();
    CheckMetadata();
    CheckBody();
  }

 private:
  void Add(const char* rule, std::string_view key, std::string message) {
    report_.Add(rule, KeyLine(document_, key), std::move(message));
  }

  static bool HasCommaInParentheses(std::string_view text) {
    const size_t comma = text.find(',');
    return text.substr(0, comma).rfind('(') != kNone &&
           (text.substr(0, comma).rfind(')') == kNone ||
            text.substr(0, comma).rfind(')') < text.substr(0, comma).rfind('('));
  }

  void CheckName() {
    const Value& value = front_["name"];
    const std::string name = value.ToText();
    if (name.empty()) return Add("skill-name-missing", "name", "the skill has no name");
    if (!IsSkillName(name)) {
      Add("skill-name", "name", Quoted(name) + " is not 1-64 of a-z, 0-9 and single hyphens");
    }
    const std::string_view folder = BaseName(DirName(document_.path));
    if (BaseName(document_.path) != "SKILL.md" || folder.empty() || folder == ".") return;
    if (folder != name) {
      Add("skill-name-folder", "name",
          "the name " + Quoted(name) + " is not that of the folder " + Quoted(folder));
    }
  }

  void CheckDescription() {
    const Value& value = front_["description"];
    const std::string text = value.ToText();
    if (Trim(text).empty()) {
      return Add("skill-description-missing", "description",
                 "the skill has no description: agents cannot find it");
    }
    if (const size_t size = CountCharacters(text); size > kMaxDescription) {
      Add("skill-description-length", "description",
          "the description has " + std::to_string(size) + " characters");
    }
    static constexpr std::string_view kWhen[] = {"when",   "use for",    "use this", "use to",
                                                 "use it", "used for",   "trigger",  "if the user",
                                                 "asks",   "for tasks",  "whenever", "before ",
                                                 "use in", "apply this", "invoke"};
    const std::string lower = Lower(text);
    for (std::string_view word : kWhen) {
      if (lower.find(word) != std::string::npos) return;
    }
    Add("skill-description-when", "description", "the description does not say when to use it");
  }

  void CheckOptionalText(std::string_view key, const char* rule, size_t max) {
    if (!front_.Has(key)) return;
    const Value& value = front_[key];
    const std::string name(key);
    if (!value.IsString()) return Add(rule, key, name + " is of type " + value.TypeName());
    if (const size_t size = CountCharacters(value.AsString()); max > 0 && size > max) {
      Add(rule, key, name + " has " + std::to_string(size) + " characters");
    }
  }

  void CheckKeys() {
    static constexpr std::string_view kKeys[] = {"name",     "description",   "license",
                                                 "metadata", "compatibility", "allowed-tools"};
    for (const auto& [key, value] : front_.AsMap()) {
      if (std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys)) continue;
      const int line = std::max(1, value.line());
      report_.Add("skill-unknown-key", line, "the specification has no key " + Quoted(key));
    }
  }

  void CheckMetadata() {
    if (!front_.Has("metadata")) return;
    const Value& metadata = front_["metadata"];
    if (!metadata.IsMap()) {
      return Add("skill-metadata", "metadata",
                 std::string("metadata is of type ") + metadata.TypeName() + ", not a map");
    }
    for (const auto& [key, value] : metadata.AsMap()) {
      const int line = std::max(KeyLine(document_, "metadata"), value.line());
      if (!value.IsString()) {
        report_.Add(
            "skill-metadata", line,
            "metadata " + Quoted(key) + " is of type " + value.TypeName() + ", not a string");
      }
      if (key.starts_with("kb-")) CheckOurs(key, value.ToText(), line);
    }
  }

  void CheckOurs(std::string_view key, const std::string& text, int line) {
    if (const char* wants = WhatItWants(key, text)) {
      report_.Add(*wants ? "skill-kb-value" : "skill-kb-key", line,
                  *wants ? std::string(key) + " is " + Quoted(text) + ", not " + wants
                         : "kb knows no metadata key " + Quoted(key));
    }
  }

  // Null: fine. "": no such key. Else what the value should be.
  static const char* WhatItWants(std::string_view key, const std::string& text) {
    const std::vector<std::string> names = SplitNames(text);
    const bool safe = !names.empty() && std::all_of(names.begin(), names.end(), IsSafeName);
    if (key == "kb-arch") return IsArchConstraint(text) ? nullptr : "a constraint like \">=sm_80\"";
    if (key == "kb-cuda") return IsCudaConstraint(text) ? nullptr : "a constraint like \">=12.0\"";
    if (key == "kb-bound") {
      const bool known =
          !names.empty() && std::all_of(names.begin(), names.end(), [](const auto& n) {
            return n == "memory" || n == "compute" || n == "latency";
          });
      return known ? nullptr : "memory, compute or latency";
    }
    if (key == "kb-dtype") return safe ? nullptr : "names like \"bf16 fp8\"";
    if (key == "kb-topics") return safe ? nullptr : "words separated by spaces";
    if (key == "kb-evidence") return safe ? nullptr : "ids of entries";
    if (key == "kb-license-spdx") return Trim(text).empty() ? "an SPDX expression" : nullptr;
    return "";
  }

  void CheckBody() {
    const int lines = static_cast<int>(SplitLines(document_.body).size());
    if (lines > kMaxBodyLines) {
      report_.Add("skill-body-lines", document_.body_line,
                  "the body has " + std::to_string(lines) + " lines, more than 500");
    }
    const size_t tokens = document_.body.size() / kBytesPerToken;
    if (tokens > kMaxBodyTokens) {
      report_.Add("skill-body-tokens", document_.body_line,
                  "the body has about " + std::to_string(tokens) + " tokens, more than 5,000");
    }
  }

  const Document& document_;
  const Value& front_;
  LintReport& report_;
};

// The target of "](target" as a path, or "" if it is no relative link.
std::string RelativeTarget(std::string_view rest) {
  if (rest.starts_with('<')) rest.remove_prefix(1);
  const size_t end = rest.substr(0, 512).find_first_of(" )\t\r\n\"'>#?");
  if (end == kNone || end == 0) return "";
  const std::string_view target = rest.substr(0, end);
  const bool address = target.find(':') != kNone || target[0] == '/' || target[0] == '#';
  // Placeholders of templates: <name>, {name}, $name, *.md, "...".
  if (address || target.find_first_of("<>{}$*`|\\") != kNone) return "";
  if (target.find_first_not_of('.') == kNone) return "";
  if (target.find('.') == kNone && target.find('/') == kNone) return "";
  std::string path;
  for (size_t i = 0; i < target.size(); ++i) {
    const bool space = target.substr(i, 3) == "%20";
    path += space ? ' ' : target[i];
    i += space ? 2 : 0;
  }
  return path;
}

}  // namespace

void LintLinks(const LintSource& source, LintReport& report) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string folder(DirName(source.document.path));
  if (folder.empty() || !fs::is_regular_file(source.document.path, error)) return;
  int checked = 0;  // each is a question to the file system
  for (size_t at = Find(source.text, "]("); at != kNone && checked < kMaxLinks;
       at = Find(source.text, "](", at + 2)) {
    const int line = source.LineAt(at);
    if (source.InCode(line) || source.InInlineCode(at)) continue;
    const std::string target = RelativeTarget(source.text.substr(at + 2));
    if (target.empty() || (++checked, fs::exists(fs::path(folder) / target, error))) continue;
    report.Add("link-broken", line, "there is no " + Quoted(target) + " beside the document");
  }
}

void LintSkill(const LintSource& source, LintReport& report) { SkillCheck(source, report).Run(); }

}  // namespace kb
