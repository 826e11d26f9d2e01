#include "indexer/context_item.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <functional>
#include <iterator>
#include <set>
#include <span>

#include "indexer/tokenizer.h"
#include "kb/file.h"
#include "kb/markdown.h"
#include "kb/nnk.h"

namespace kb {
namespace {

// What a heading must say for its section to be a part, lower-case.
constexpr std::array<std::string_view, 3> kIdeaHeadings = {"the idea", "overview", "in short"};
constexpr std::array<std::string_view, 4> kCheckHeadings = {"how to check", "check", "verify",
                                                            "testing"};
constexpr std::array<std::string_view, 4> kPitfallHeadings = {"pitfall", "known failure", "gotcha",
                                                              "what failed"};
constexpr std::array<std::string_view, 2> kWhenHeadings = {"when to use", "when not"};

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

const char* TrustOf(const CatalogDocument& main) {
  switch (main.kind) {
    case Kind::kSkill:
      return "curated";
    case Kind::kTrace:
      return "recorded";
    case Kind::kPage:
      return "reference";
    case Kind::kNnk:
      break;
  }
  return main.state == "replicated" ? "replicated"
         : main.state == "proved"   ? "proved"
         : main.state == "stale"    ? "stale"
         : main.state == "refuted"  ? "refuted"
                                    : "unproved";
}

std::string Applies(const Scope& scope) {
  std::string out;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) out += (out.empty() ? "" : "; ") + std::string(text);
  };
  add(scope.arch);
  add(scope.cuda.empty() ? "" : "CUDA " + scope.cuda);
  std::string dtypes;
  for (const std::string& dtype : scope.dtypes) dtypes += (dtypes.empty() ? "" : ", ") + dtype;
  add(dtypes);
  add(scope.bound.empty() ? "" : scope.bound + "-bound");
  return out.empty() ? "not stated" : out;
}

std::string JoinLines(const std::vector<std::string_view>& lines, int first, int last) {
  std::string out;
  for (int i = std::max(first, 1); i <= last && i <= static_cast<int>(lines.size()); ++i) {
    std::string_view line = lines[static_cast<size_t>(i - 1)];
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
    out += std::string(line) + "\n";
  }
  return out;
}

bool HeadingSays(const Block& block, std::span<const std::string_view> words) {
  const std::string text = Lower(block.text);
  return block.type == BlockType::kHeading &&
         std::ranges::any_of(words, [&](std::string_view w) { return text.find(w) != text.npos; });
}

bool StartsListItem(std::string_view line) {
  const size_t digits = line.find_first_not_of("0123456789");
  const bool numbered = digits != line.npos && digits > 0 && line.substr(digits).starts_with(". ");
  return line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") || numbered;
}

// A text cut into pieces that can stand alone: its blocks, and the items of its lists. Each is
// given once, however many parts would like to have it.
class Pieces {
 public:
  Pieces(std::string_view body, const std::vector<Block>& blocks, const Query& query)
      : lines_(SplitLines(body)),
        blocks_(blocks),
        arch_(query.filters.arch),
        asked_(Tokenize(query.text)) {}

  // The blocks within these lines (1-based, inclusive), headings left out.
  std::vector<ContextPiece> Lines(const char* part, int first, int last) {
    std::vector<ContextPiece> pieces;
    for (const Block& block : blocks_) {
      const bool inside = block.first_line >= first && block.last_line <= last;
      if (!inside || block.type == BlockType::kHeading) continue;
      if (IsTaken(block) || IsForAnotherArch(block)) continue;
      for (std::string& text : Cut(block)) pieces.push_back({part, std::move(text)});
      taken_.push_back({block.first_line, block.last_line});
    }
    return pieces;
  }

  // The section under the first heading that says one of `words`.
  std::vector<ContextPiece> Section(const char* part, std::span<const std::string_view> words) {
    const auto [first, last] = Find(words);
    return first == 0 ? std::vector<ContextPiece>{} : Lines(part, first, last);
  }

  // The whole code block that shares most with the question; the smallest of equals.
  std::vector<ContextPiece> Code() {
    const Block* best = nullptr;
    for (const Block& block : blocks_) {
      if (block.type != BlockType::kCode || !block.info.starts_with("cuda") ||
          block.info.find("fragment") != block.info.npos || IsTaken(block) ||
          IsForAnotherArch(block)) {
        continue;
      }
      if (best == nullptr || IsBetter(block, *best)) best = &block;
    }
    if (best == nullptr) return {};
    return Lines("code", best->first_line, best->last_line);
  }

  // How many words of the question a text has.
  [[nodiscard]] size_t Shared(std::string_view text) const {
    const std::vector<std::string> terms = Tokenize(text);
    const std::set<std::string> has(terms.begin(), terms.end());
    const std::set<std::string> asked(asked_.begin(), asked_.end());
    return static_cast<size_t>(
        std::ranges::count_if(asked, [&](const std::string& t) { return has.contains(t); }));
  }

 private:
  // A code block "cuda sm_90a" when another architecture was asked for.
  [[nodiscard]] bool IsForAnotherArch(const Block& block) const {
    const size_t tag = block.info.find("sm_");
    if (arch_.empty() || block.type != BlockType::kCode || tag == block.info.npos) return false;
    return !MatchesArch(">=" + block.info.substr(tag, block.info.find(' ', tag) - tag), arch_) &&
           !MatchesArch(block.info.substr(tag, block.info.find(' ', tag) - tag), arch_);
  }

  [[nodiscard]] bool IsTaken(const Block& block) const {
    return std::ranges::any_of(taken_, [&](const std::pair<int, int>& t) {
      return block.first_line >= t.first && block.last_line <= t.second;
    });
  }

  // The code with the two lines before it, which say what it is.
  [[nodiscard]] size_t Fit(const Block& block) const {
    return Shared(JoinLines(lines_, block.first_line - 3, block.first_line - 1) + block.text);
  }
  [[nodiscard]] bool IsBetter(const Block& a, const Block& b) const {
    const size_t fit_a = Fit(a), fit_b = Fit(b);
    return fit_a != fit_b ? fit_a > fit_b : a.text.size() < b.text.size();
  }

  [[nodiscard]] std::pair<int, int> Find(std::span<const std::string_view> words) const {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!HeadingSays(blocks_[i], words)) continue;
      int last = blocks_[i].last_line;
      for (size_t j = i + 1; j < blocks_.size(); ++j) {
        if (blocks_[j].type == BlockType::kHeading && blocks_[j].level <= blocks_[i].level) break;
        last = std::max(last, blocks_[j].last_line);
      }
      return {blocks_[i].first_line, last};
    }
    return {0, 0};
  }

  [[nodiscard]] std::vector<std::string> Cut(const Block& block) const {
    if (block.type != BlockType::kList) {
      return {JoinLines(lines_, block.first_line, block.last_line) + "\n"};
    }
    std::vector<std::string> items;
    for (int i = block.first_line; i <= block.last_line; ++i) {
      const std::string line = JoinLines(lines_, i, i);
      if (items.empty() || StartsListItem(line)) items.emplace_back();
      if (line != "\n") items.back() += line;
    }
    if (!items.empty()) items.back() += "\n";
    return items;
  }

  std::vector<std::string_view> lines_;
  const std::vector<Block>& blocks_;
  std::string arch_;
  std::vector<std::string> asked_;
  std::vector<std::pair<int, int>> taken_;
};

void Append(std::vector<ContextPiece> from, std::vector<ContextPiece>* to) {
  std::move(from.begin(), from.end(), std::back_inserter(*to));
}

void AddClaim(const Document& document, ContextItem* item) {
  const NnkEntry entry = ParseNnkEntry(document);
  std::string text = entry.claim + "\n";
  if (entry.speedup && entry.ci95_low && entry.ci95_high) {
    text +=
        fmt::format("Measured on {}: {:.3f} times its baseline, 95 % interval {:.3f} to {:.3f}.\n",
                    entry.gpu, *entry.speedup, *entry.ci95_low, *entry.ci95_high);
  }
  if (!entry.not_when.empty()) text += "Not when: " + entry.not_when + "\n";
  text += "Check: kb tdd prove nnk/" + entry.id + "\n\n";
  item->gpu = entry.gpu;
  item->pieces.push_back({"claim", text});
}

// The parts of an item in the order of their worth to somebody who is about to write the kernel.
void AddParts(const Document& main, const Hit& hit, const std::string& passage, const Query& query,
              std::vector<ContextPiece>* out) {
  Pieces pieces(main.body, main.blocks, query);
  Append(pieces.Code(), out);
  Append(pieces.Section("idea", kIdeaHeadings), out);
  // Reserved before the passage, which may be one of them.
  std::vector<ContextPiece> pitfalls = pieces.Section("pitfalls", kPitfallHeadings);
  std::ranges::stable_sort(pitfalls, std::greater<>(),
                           [&](const ContextPiece& p) { return pieces.Shared(p.text); });
  const std::vector<ContextPiece> check = pieces.Section("check", kCheckHeadings);
  const std::vector<ContextPiece> when = pieces.Section("when", kWhenHeadings);
  if (hit.document.path == main.path) {
    const int offset = main.body_line - 1;
    Append(pieces.Lines("passage", hit.chunk.first_line - offset, hit.chunk.last_line - offset),
           out);
  } else {
    const std::vector<Block> blocks = ParseMarkdown(passage);
    std::vector<ContextPiece> found = Pieces(passage, blocks, query).Lines("passage", 1, INT_MAX);
    if (!found.empty()) {
      found[0].text = fmt::format("From {}:{}-{}, sha256 {}:\n\n", Printable(hit.document.path),
                                  hit.chunk.first_line, hit.chunk.last_line, hit.document.sha256) +
                      found[0].text;
    }
    Append(std::move(found), out);
  }
  Append(std::move(pitfalls), out);
  Append(check, out);
  Append(when, out);
}

}  // namespace

ContextItem MakeContextItem(Retriever& retriever, const Hit& hit, const Query& query) {
  ContextItem item;
  const CatalogDocument main =
      retriever.catalog().FindDocument(hit.bundle_id).value_or(hit.document);
  const Document document = ParseDocument(main.path, retriever.catalog().Text(main.row));
  item.id = hit.bundle_id;
  item.kind = KindName(main.kind);
  item.trust = TrustOf(main);
  item.title = main.title;
  item.applies = Applies(main.scope);
  item.cuda = main.scope.cuda;
  item.citation = fmt::format("[{}@{}]", main.id, main.sha256.substr(0, 12));
  item.sha256 = main.sha256;
  item.source = main.path;
  item.fetch = "kb get " + hit.bundle_id;
  if (main.kind == Kind::kNnk) AddClaim(document, &item);
  AddParts(document, hit, retriever.PassageText(hit), query, &item.pieces);
  return item;
}

}  // namespace kb
