#include "cli/export_front.h"

#include <algorithm>
#include <cstdint>

#include "kb/json.h"
#include "kb/markdown.h"
#include "kb/utf8.h"

namespace kb {
namespace {

constexpr size_t kMaxName = 64, kMaxDescription = 1024, kMaxCompatibility = 500;
// Room for the line that names the rest.
constexpr int kHeadLines = 480;
constexpr size_t kHeadBytes = 19000;  // lint counts 4 bytes a token: 5,000 are 20,000
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Controls, separators of lines, marks of byte order and what YAML does not allow.
bool IsGap(std::string_view character) {
  if (character.size() == 1)
    return static_cast<unsigned char>(character[0]) <= 0x20 || character[0] == 0x7F;
  return (character >= "\xC2\x80" && character <= "\xC2\xA0") || character == "\xE2\x80\xA8" ||
         character == "\xE2\x80\xA9" || character == "\xEF\xBB\xBF" ||
         character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

// Calls `take` with each character; bytes that are none come as U+FFFD.
template <typename Take>
void ForEachCharacter(std::string_view text, const Take& take) {
  for (size_t i = 0; i < text.size();) {
    const int length = Utf8Length(text, i);
    take(length == 0 ? kReplacement : text.substr(i, static_cast<size_t>(length)));
    i += length == 0 ? 1 : static_cast<size_t>(length);
  }
}

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Cut(const std::string& text, size_t max_characters) {
  size_t end = 0, characters = 0, space = 0;
  while (characters + 1 < max_characters) {
    if (text[end] == ' ') space = end;
    end += static_cast<size_t>(Utf8Length(text, end));
    ++characters;
  }
  if (space > end / 2) end = space;
  return text.substr(0, end) + "\xE2\x80\xA6";
}

// A value of any type as the text of a metadata value.
std::string TextOf(const Value& value) {
  if (value.IsMap()) return WriteJson(value);
  if (!value.IsList()) return value.ToText();
  std::string text;
  for (const Value& item : value.AsList()) {
    const bool nested = item.IsMap() || item.IsList();
    text += (text.empty() ? "" : ", ") + (nested ? WriteJson(item) : item.ToText());
  }
  return text;
}

// "Read, Bash(git add:*), Write" -> "Read Bash(git add:*) Write".
std::string SpaceSeparated(std::string_view tools) {
  std::string text;
  int depth = 0;
  for (const char c : tools) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    text += c == ',' && depth <= 0 ? ' ' : c;
  }
  return OneLine(text);
}

std::string AllowedTools(const Value& value) {
  if (!value.IsList()) return SpaceSeparated(value.ToText());
  std::string tools;
  for (const Value& item : value.AsList()) tools += item.ToText() + " ";
  return SpaceSeparated(tools);
}

std::string Shortened(const std::string& text, size_t max_characters, const char* full_key,
                      SkillFront& front) {
  std::string line = OneLine(text, max_characters);
  if (line != OneLine(text)) front.AddMetadata(full_key, OneLine(text));
  return line;
}

// Words that one version or another of YAML reads as something else than a string.
bool IsYamlWord(std::string_view text) {
  static constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on",
                                                "off",  "null",  "y",   "n"};
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return std::find(std::begin(kWords), std::end(kWords), lower) != std::end(kWords);
}

bool IsPlain(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && letter(text[0]) && !IsYamlWord(text) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  ForEachCharacter(text, [&](std::string_view character) {
    if (character == "\"" || character == "\\") {
      quoted += '\\';
      quoted += character;
    } else if (character == "\n") {
      quoted += "\\n";
    } else if (character == "\t") {
      quoted += "\\t";
    } else {
      quoted += IsGap(character) && character != " " ? " " : character;
    }
  });
  return quoted + '"';
}

std::string Scalar(std::string_view text) {
  return IsPlain(text) ? std::string(text) : Quoted(text);
}

// The line, 1-based, from which the rest begins; 1: nothing fits.
int CutLine(const std::vector<Block>& blocks, const std::vector<std::string_view>& lines) {
  int fits = 0;  // how many lines the head may have
  for (size_t bytes = 0; fits < kHeadLines && fits < static_cast<int>(lines.size()); ++fits) {
    bytes += lines[static_cast<size_t>(fits)].size() + 1;
    if (bytes > kHeadBytes) break;
  }
  int block_cut = 1, heading_cut = 1, last = 0;
  for (const Block& block : blocks) {
    if (block.first_line > fits + 1) break;
    if (block.first_line <= last) continue;  // a fence inside the block before
    last = block.last_line;
    block_cut = block.first_line;
    if (block.type == BlockType::kHeading && block.level <= 2) heading_cut = block.first_line;
  }
  return heading_cut > fits / 2 ? heading_cut : block_cut;
}

std::string JoinLines(const std::vector<std::string_view>& lines, size_t begin, size_t end) {
  std::string text;
  for (size_t i = begin; i < end; ++i) (text += lines[i]) += '\n';
  return text;
}

}  // namespace

void SkillFront::AddMetadata(std::string_view key, std::string_view value) {
  const std::string clean = OneLine(key);
  const auto same = [&](const auto& pair) { return pair.first == clean; };
  if (clean.empty() || std::any_of(metadata.begin(), metadata.end(), same)) return;
  metadata.emplace_back(clean, value);
}

std::string ConformantName(std::string_view text) {
  std::string name;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    if (IsWordCharacter(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
    if (name.size() > kMaxName) break;
  }
  name.resize(std::min(name.size(), kMaxName));
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string OneLine(std::string_view text, size_t max_characters) {
  std::string line;
  bool gap = false;
  ForEachCharacter(text, [&](std::string_view character) {
    if (IsGap(character)) {
      gap = !line.empty();
      return;
    }
    if (gap) line += ' ';
    gap = false;
    line += character;
  });
  if (max_characters > 0 && CountCharacters(line) > max_characters)
    return Cut(line, max_characters);
  return line;
}

std::string CleanText(std::string_view text) {
  std::string clean;
  for (const std::string_view line : SplitLines(text)) {
    if (clean.empty() && line.find_first_not_of(" \t") == std::string_view::npos) continue;
    ForEachCharacter(line, [&](std::string_view character) {
      clean += character == std::string_view("\0", 1) ? kReplacement : character;
    });
    clean += '\n';
  }
  const size_t last = clean.find_last_not_of(" \t\n");
  clean.resize(last == std::string::npos ? 0 : std::min(clean.size(), clean.find('\n', last) + 1));
  return clean;
}

SkillFront ConformantFront(const Document& skill) {
  const Value& front = skill.front_matter;
  SkillFront out;
  out.name = ConformantName(skill.id);
  // Ours first: of equal keys the first is kept.
  for (const auto& [key, value] : front["metadata"].AsMap()) out.AddMetadata(key, TextOf(value));
  if (!front["metadata"].IsMap()) {
    if (const std::string text = TextOf(front["metadata"]); !text.empty()) {
      out.AddMetadata("metadata", text);
    }
  }
  if (out.name != skill.id) out.AddMetadata("original-name", skill.id);
  const std::string& about = skill.description.empty() ? skill.title : skill.description;
  out.description = Shortened(about, kMaxDescription, "description", out);
  if (out.description.empty()) out.description = out.name;
  const std::string license = TextOf(front["license"]);
  out.license = OneLine(license.empty() ? skill.license : license);
  out.compatibility =
      Shortened(TextOf(front["compatibility"]), kMaxCompatibility, "compatibility", out);
  const Value& tools = front["allowed-tools"];
  out.allowed_tools = AllowedTools(tools);
  if (tools.IsMap()) out.AddMetadata("allowed-tools", TextOf(tools));
  static constexpr std::string_view kKnown[] = {"name",     "description",   "license",
                                                "metadata", "compatibility", "allowed-tools"};
  for (const auto& [key, value] : front.AsMap()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown)) continue;
    out.AddMetadata(key, TextOf(value));
  }
  return out;
}

std::string WriteFront(const SkillFront& front) {
  std::string text = "---\nname: " + Scalar(front.name) + "\n";
  text += "description: " + Quoted(front.description) + "\n";
  if (!front.license.empty()) text += "license: " + Quoted(front.license) + "\n";
  if (!front.compatibility.empty()) text += "compatibility: " + Quoted(front.compatibility) + "\n";
  if (!front.allowed_tools.empty()) text += "allowed-tools: " + Quoted(front.allowed_tools) + "\n";
  if (!front.metadata.empty()) text += "metadata:\n";
  for (const auto& [key, value] : front.metadata) {
    text += "  " + Scalar(key) + ": " + Quoted(value) + "\n";
  }
  return text + "---\n";
}

SplitBody BoundBody(const std::string& body, std::string_view title) {
  const std::vector<std::string_view> lines = SplitLines(body);
  if (lines.size() <= kHeadLines && body.size() <= kHeadBytes) return {body, ""};
  const auto cut = static_cast<size_t>(CutLine(ParseMarkdown(body), lines) - 1);
  if (cut == 0) return {"# " + OneLine(title, 200) + "\n", body};
  return {CleanText(JoinLines(lines, 0, cut)), CleanText(JoinLines(lines, cut, lines.size()))};
}

}  // namespace kb
