#include "kb/document.h"

#include <algorithm>

#include "kb/file.h"
#include "kb/front_matter.h"
#include "kb/sha256.h"
#include "kb/utf8.h"

namespace kb {
namespace {

constexpr size_t kMaxDescriptionBytes = 1024;  // of a skill, by the specification

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view FolderName(std::string_view path) { return BaseName(DirName(path)); }

// The file's name without ".md", ".trace.md" and the like.
std::string_view Stem(std::string_view path) {
  std::string_view stem = BaseName(path);
  stem = stem.substr(0, stem.rfind('.'));
  if (stem.size() > 6 && stem.substr(stem.size() - 6) == ".trace") stem.remove_suffix(6);
  return stem;
}

// traces/<year>/<id>.md, which a journal without front matter is known by.
bool IsTracePath(std::string_view path) {
  const std::string_view year = DirName(path);
  return FolderName(year) == "traces" && AllDigits(BaseName(year));
}

Kind KindOf(std::string_view path, const Value& front_matter) {
  const std::string name = Lower(BaseName(path));
  if (name == "skill.md") return Kind::kSkill;
  if (name == "nnk.md") return Kind::kNnk;
  const std::string& format = front_matter["kb"].AsString();
  if (format.compare(0, 6, "trace/") == 0) return Kind::kTrace;
  if (format.compare(0, 4, "nnk/") == 0) return Kind::kNnk;
  return IsTracePath(path) ? Kind::kTrace : Kind::kPage;
}

std::string IdOf(const Document& document) {
  const char* key = document.kind == Kind::kSkill ? "name" : "id";
  std::string id = Trimmed(document.front_matter[key].ToText());
  if (document.kind == Kind::kPage) return document.path;
  if (id.empty()) {
    id = document.kind == Kind::kTrace ? Stem(document.path) : FolderName(document.path);
  }
  return id.empty() ? document.path : id;
}

std::string TitleOf(const Document& document) {
  const bool skill = document.kind == Kind::kSkill;
  std::string title = Trimmed(document.front_matter[skill ? "name" : "title"].ToText());
  if (title.empty()) title = Trimmed(FirstHeading(document.blocks));
  if (!title.empty()) return title;
  const bool has_folder = skill || document.kind == Kind::kNnk;
  title = has_folder ? FolderName(document.path) : Stem(document.path);
  return title.empty() ? document.path : title;
}

// The lines of a block as one line of text, without list and quote markers.
std::string BlockText(const Block& block, const std::vector<std::string_view>& lines) {
  std::string text;
  for (int i = block.first_line; i <= block.last_line && text.size() < kMaxDescriptionBytes; ++i) {
    std::string_view line = lines[static_cast<size_t>(i - 1)];
    line = line.substr(std::min(line.find_first_not_of(" \t>"), line.size()),
                       kMaxDescriptionBytes + 8);
    if (line.size() > 2 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ') {
      line.remove_prefix(2);
    }
    if (!text.empty() && !line.empty()) text += ' ';
    text += line;
  }
  size_t end = std::min(text.size(), kMaxDescriptionBytes);
  while (end > 0 && end < text.size() && (text[end] & 0xC0) == 0x80) --end;
  return Trimmed(text.substr(0, end));
}

bool IsWhenHeading(const Block& block) {
  const std::string text = Lower(block.text);
  return block.type == BlockType::kHeading && (text.find("when to use") != std::string::npos ||
                                               text.find("use when") != std::string::npos);
}

// A paragraph that says something: no image, badge or table.
bool IsProse(const Block& block, const std::vector<std::string_view>& lines) {
  if (block.type != BlockType::kParagraph) return false;
  const std::string_view line = lines[static_cast<size_t>(block.first_line - 1)];
  const std::string_view start = line.substr(std::min(line.find_first_not_of(' '), line.size()), 2);
  return start != "![" && start != "[!" && start.substr(0, 1) != "|";
}

std::string DerivedDescription(const Document& document) {
  const std::vector<std::string_view> lines = SplitLines(document.body);
  const std::vector<Block>& blocks = document.blocks;
  for (size_t i = 0; i + 1 < blocks.size(); ++i) {
    const BlockType next = blocks[i + 1].type;
    if (IsWhenHeading(blocks[i]) && (next == BlockType::kParagraph || next == BlockType::kList)) {
      return BlockText(blocks[i + 1], lines);
    }
  }
  for (const Block& block : blocks) {
    if (IsProse(block, lines)) return BlockText(block, lines);
  }
  return "";
}

std::string StatedDescription(const Document& document) {
  const Value& stated = document.front_matter["description"];
  std::string text = stated.ToText();
  for (const Value& item : stated.AsList()) text += (text.empty() ? "" : " ") + item.ToText();
  if (text.empty() && document.kind == Kind::kNnk) text = document.front_matter["claim"].ToText();
  return Trimmed(text);
}

std::string LicenseOf(const Value& front_matter) {
  const Value* const places[] = {&front_matter["metadata"]["kb-license-spdx"],
                                 &front_matter["kb-license-spdx"], &front_matter["license"],
                                 &front_matter["metadata"]["license"],
                                 &front_matter["provenance"]["license"]};
  for (const Value* place : places) {
    if (std::string license = Trimmed(place->ToText()); !license.empty()) return license;
  }
  return "";
}

void Report(Document& document, Severity severity, const char* rule, int line, const char* message,
            const char* mend) {
  document.diagnostics.push_back({severity, rule, document.path, line, message, mend});
}

int LineAt(std::string_view text, size_t at) {
  return static_cast<int>(
             std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n')) +
         1;
}

size_t FindNotUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const int length = static_cast<signed char>(text[i]) >= 0 ? 1 : Utf8Length(text, i);
    if (length == 0) return i;
    i += static_cast<size_t>(length);
  }
  return std::string_view::npos;
}

void CheckText(Document& document) {
  const std::string& text = document.text;
  if (text.compare(0, 3, "\xEF\xBB\xBF") == 0) {
    Report(document, Severity::kNote, "text-bom", 1, "a byte order mark starts the file",
           "save the file as UTF-8 without BOM");
  }
  if (const size_t at = text.find('\r'); at != std::string::npos) {
    Report(document, Severity::kNote, "text-cr", LineAt(text, at), "lines end with CR or CRLF",
           "convert the line ends to LF");
  }
  if (const size_t at = text.find('\0'); at != std::string::npos) {
    Report(document, Severity::kWarning, "text-nul", LineAt(text, at), "a NUL byte",
           "remove the NUL bytes");
  }
  if (const size_t at = FindNotUtf8(text); at != std::string_view::npos) {
    Report(document, Severity::kWarning, "text-utf8", LineAt(text, at), "bytes that are not UTF-8",
           "save the file as UTF-8");
  }
}

void CheckStructure(Document& document) {
  if (!document.has_front_matter && document.kind != Kind::kPage) {
    Report(document, Severity::kWarning, "front-matter-missing", 1,
           "no front matter; title and description are derived from the text",
           "put a --- line, the keys, and a --- line at the very top");
  }
  for (const Block& block : document.blocks) {
    if (!block.unterminated) continue;
    Report(document, Severity::kWarning, "markdown-fence",
           document.body_line + block.first_line - 1,
           "a code fence is not closed; it runs to the end of what holds it",
           "add the closing fence, of at least as many backticks");
  }
}

}  // namespace

const char* KindName(Kind kind) {
  constexpr const char* kNames[] = {"skill", "trace", "nnk", "page"};
  return kNames[static_cast<int>(kind)];
}

Document ParseDocument(std::string_view path, std::string text) {
  Document document;
  document.path = path;
  document.text = std::move(text);
  document.sha256 = Sha256(document.text);
  FrontMatter front = ParseFrontMatter(document.text, path, &document.diagnostics);
  document.has_front_matter = front.present;
  document.front_matter = std::move(front.value);
  document.body = front.body;
  document.body_line = front.body_line;
  if (document.text.size() > static_cast<size_t>(kMaxFileBytes)) {
    Report(document, Severity::kError, "text-too-large", 0,
           "larger than 16 MiB; its structure is not read", "split the document");
  } else {
    document.blocks = ParseMarkdown(document.body);
  }
  document.kind = KindOf(path, document.front_matter);
  document.id = IdOf(document);
  document.title = TitleOf(document);
  document.description = StatedDescription(document);
  if (document.description.empty()) {
    document.description = DerivedDescription(document);
    document.description_derived = !document.description.empty();
  }
  document.scope = ReadScope(document.kind, document.front_matter);
  document.license = LicenseOf(document.front_matter);
  if (document.kind == Kind::kNnk) document.state = document.front_matter["state"].ToText();
  CheckText(document);
  CheckStructure(document);
  return document;
}

}  // namespace kb
