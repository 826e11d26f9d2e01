#include "indexer/chunker.h"

#include <algorithm>
#include <array>
#include <span>

#include "indexer/sections.h"
#include "kb/markdown.h"
#include "kb/sha256.h"

namespace kb {
namespace {

constexpr int kMinWords = 150;
constexpr size_t kHeadingBytes = 480;

// Neighbouring sections [first, last] that make one chunk, or several if too large.
struct Group {
  size_t first = 0, last = 0;
  int words = 0;
  bool bare = true;
};

// Whether section `at` lies below `ancestor` (-1: the document).
bool IsBelow(std::span<const Section> sections, int at, int ancestor) {
  while (at >= 0 && sections[at].parent != ancestor) at = sections[at].parent;
  return at >= 0;
}

bool Joins(std::span<const Section> sections, const Group& group, size_t at) {
  const Section& next = sections[at];
  if (group.words == 0 || group.bare) return true;  // a heading alone says nothing
  if (IsApparatus(next.name) || IsApparatus(sections[group.first].name)) return false;
  const int top = static_cast<int>(group.first), section = static_cast<int>(at);
  if (group.words < kScrapWords && IsBelow(sections, section, top)) return true;
  return IsBelow(sections, section, sections[top].parent) &&
         group.words + next.words <= kMaxWords &&
         (group.words < kMinWords || next.words < kMinWords);
}

std::vector<Group> JoinSections(std::span<const Section> sections) {
  std::vector<Group> groups(1);
  for (size_t i = 0; i < sections.size(); ++i) {
    if (i > 0 && !Joins(sections, groups.back(), i)) groups.push_back({.first = i});
    Group& group = groups.back();
    group.last = i;
    group.words += sections[i].words;
    group.bare = group.bare && sections[i].bare;
  }
  return groups;
}

std::vector<std::string_view> PathOf(std::span<const Section> sections, size_t at) {
  std::vector<std::string_view> path;
  for (int i = static_cast<int>(at); i >= 0; i = sections[i].parent) {
    if (!sections[i].name.empty()) path.push_back(sections[i].name);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// "A > B" for one section; for several the common path, then what differs: "A > B; C > D".
std::string HeadingOf(std::span<const Section> sections, const Group& group) {
  std::vector<std::vector<std::string_view>> paths;
  for (size_t i = group.first; i <= group.last; ++i) {
    if (!sections[i].bare || group.bare) paths.push_back(PathOf(sections, i));
  }
  size_t common = paths[0].size();
  for (const auto& path : paths) {
    const auto end = paths[0].begin() + static_cast<std::ptrdiff_t>(std::min(common, path.size()));
    common = std::mismatch(paths[0].begin(), end, path.begin()).first - paths[0].begin();
  }
  std::string heading;
  for (size_t i = 0; i < common; ++i) heading.append(i > 0 ? " > " : "").append(paths[0][i]);
  std::string_view separator = common > 0 ? " > " : "";
  for (const auto& path : paths) {
    if (path.size() == common || heading.size() > kHeadingBytes) continue;
    for (size_t i = common; i < path.size(); ++i) {
      heading.append(i > common ? " > " : separator).append(path[i]);
    }
    separator = "; ";
  }
  return CutText(std::move(heading), kHeadingBytes);
}

// Where the chunks of a group begin: even parts of at most kMaxWords, if its atoms let it.
std::vector<size_t> CutGroup(std::span<const Atom> atoms, int words) {
  std::vector<size_t> begins{atoms.front().begin};
  if (words <= kMaxWords) return begins;
  const int target = words / ((words + kMaxWords - 1) / kMaxWords);
  int part = 0;
  for (const Atom& atom : atoms) {
    const bool full = part + atom.words > kMaxWords || part + atom.words / 2 > target;
    if (part >= kScrapWords && full) {
      begins.push_back(atom.begin);
      part = 0;
    }
    part += atom.words;
  }
  if (part < kScrapWords && begins.size() > 1) begins.pop_back();
  return begins;
}

// Turns ranges of the body into chunks; they come in order.
class Writer {
 public:
  explicit Writer(const Document& document)
      : document_(document), lines_(SplitLines(document.body)) {}

  [[nodiscard]] Chunk Write(std::string heading, size_t begin, size_t end) {
    const std::string_view text = std::string_view(document_.body).substr(begin, end - begin);
    const size_t offset = document_.text.size() - document_.body.size();
    Chunk chunk;
    chunk.id = Sha256(heading + "\n" + std::string(text)).substr(0, 8);
    chunk.heading = std::move(heading);
    chunk.first_line = LineOf(begin);
    chunk.last_line = LineOf(end > begin ? end - 1 : begin);
    chunk.begin = static_cast<int64_t>(offset + begin);
    chunk.end = static_cast<int64_t>(offset + end);
    return chunk;
  }

 private:
  int LineOf(size_t at) {
    while (line_ + 1 < lines_.size() && lines_[line_ + 1].data() <= document_.body.data() + at) {
      ++line_;
    }
    return document_.body_line + static_cast<int>(line_);
  }

  const Document& document_;
  std::vector<std::string_view> lines_;
  size_t line_ = 0;
};

}  // namespace

bool IsApparatus(std::string_view heading) {
  constexpr std::array<std::string_view, 6> kNames = {"sources",         "references",   "see also",
                                                      "further reading", "bibliography", "links"};
  const size_t cut = heading.find_last_of(">;");
  std::string name(cut == heading.npos ? heading : heading.substr(cut + 1));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const size_t begin = name.find_first_not_of(" \t*_");
  if (begin == name.npos) return false;
  name = name.substr(begin, name.find_last_not_of(" \t*_:") + 1 - begin);
  return std::ranges::find(kNames, name) != kNames.end();
}

std::vector<Chunk> SplitDocument(const Document& document) {
  Writer writer(document);
  const Sections cut = CutSections(document);
  const std::span<const Atom> atoms = cut.atoms;
  if (atoms.empty()) return {writer.Write("", 0, 0)};
  std::vector<Chunk> chunks;
  const std::span<const Section> sections = cut.sections;
  for (const Group& group : JoinSections(sections)) {
    const bool last = group.last + 1 == sections.size();
    const size_t first = sections[group.first].first_atom;
    const size_t end = last ? atoms.size() : sections[group.last + 1].first_atom;
    std::vector<size_t> begins = CutGroup(atoms.subspan(first, end - first), group.words);
    begins.push_back(end < atoms.size() ? atoms[end].begin : document.body.size());
    const std::string heading = HeadingOf(sections, group);
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      chunks.push_back(writer.Write(heading, begins[i], begins[i + 1]));
    }
  }
  return chunks;
}

}  // namespace kb
