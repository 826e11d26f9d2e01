// The files of an export that name its skills: indexes for agents, manifests for installers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kb/document.h"

namespace kb {

struct ExportedSkill {
  std::string name;
  std::string id;
  std::string folder;  // below the export, e.g. ".claude/skills/x"
  Kind kind = Kind::kSkill;
  std::string description;
  std::string license;
  std::string state;  // of an entry
  std::string text;   // its SKILL.md
  int files = 0;      // with the SKILL.md
};

struct ExportLayout {
  const char* name;
  const char* skills;  // the folder of the skills; "": in the plugin
};

// Null if there is no such layout.
[[nodiscard]] const ExportLayout* FindLayout(std::string_view name);

// Where the skills go. `plugin`: the name of the plugin.
[[nodiscard]] std::string SkillsFolder(const ExportLayout& layout, const std::string& plugin);

using TextFiles = std::vector<std::pair<std::string, std::string>>;  // path, bytes

// llms.txt, llms-full.txt and AGENTS.kb.md (three lines to paste into an AGENTS.md).
[[nodiscard]] TextFiles IndexFiles(const std::vector<ExportedSkill>& skills,
                                   const std::string& skills_folder);

// A marketplace of one plugin for Claude Code, Cursor and Codex, and the page of skills.sh.
// `digest`: of the content; makes the version, so that clients see when it changed.
[[nodiscard]] TextFiles PluginFiles(const std::vector<ExportedSkill>& skills,
                                    const std::string& plugin, const std::string& digest);

}  // namespace kb
