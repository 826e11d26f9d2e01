#include "indexer/context_item.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "kb/markdown.h"
#include "kb/nnk.h"

namespace kb {
namespace {

constexpr std::array<std::string_view, 4> kCheckHeadings = {"how to check", "check", "verify",
                                                            "testing"};
constexpr std::array<std::string_view, 4> kPitfallHeadings = {"pitfall", "known failure", "gotcha",
                                                              "what failed"};

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

// The blocks of a text as pieces; headings go with the block that follows.
void AddBlocks(const char* part, std::string_view text, std::vector<ContextPiece>* pieces) {
  const std::vector<std::string_view> lines = SplitLines(text);
  std::string heading;
  int covered = 0;
  for (const Block& block : ParseMarkdown(text)) {
    if (block.last_line <= covered) continue;  // a fence inside a list already taken
    covered = block.last_line;
    const std::string source = JoinLines(lines, block.first_line, block.last_line);
    if (block.type == BlockType::kHeading) {
      heading += source;
      continue;
    }
    pieces->push_back({part, heading + source});
    heading.clear();
  }
}

bool HeadingSays(const Block& block, std::span<const std::string_view> words) {
  const std::string text = Lower(block.text);
  return block.type == BlockType::kHeading &&
         std::ranges::any_of(words, [&](std::string_view w) { return text.find(w) != text.npos; });
}

// The text under the first heading that says one of `words`, up to the next heading of its level.
std::string SectionUnder(const Document& document, std::span<const std::string_view> words) {
  const std::vector<Block>& blocks = document.blocks;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!HeadingSays(blocks[i], words)) continue;
    int last = blocks[i].last_line;
    for (size_t j = i + 1; j < blocks.size(); ++j) {
      if (blocks[j].type == BlockType::kHeading && blocks[j].level <= blocks[i].level) break;
      last = std::max(last, blocks[j].last_line);
    }
    return JoinLines(SplitLines(document.body), blocks[i].first_line, last);
  }
  return "";
}

bool IsWholeCuda(const Block& block) {
  return block.type == BlockType::kCode && block.info.starts_with("cuda") &&
         block.info.find("fragment") == block.info.npos;
}

std::string SmallestCode(const Document& document) {
  const Block* best = nullptr;
  for (const Block& block : document.blocks) {
    if (!IsWholeCuda(block)) continue;
    if (best == nullptr || block.text.size() < best->text.size()) best = &block;
  }
  return best == nullptr ? ""
                         : JoinLines(SplitLines(document.body), best->first_line, best->last_line);
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
  text += "Check: kb tdd prove nnk/" + entry.id + "\n";
  item->gpu = entry.gpu;
  item->pieces.push_back({"claim", text});
}

}  // namespace

ContextItem MakeContextItem(Retriever& retriever, const Hit& hit) {
  ContextItem item;
  const std::string passage = retriever.PassageText(hit);
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
  item.sha256 = hit.document.sha256;
  item.source =
      fmt::format("{}:{}-{}", hit.document.path, hit.chunk.first_line, hit.chunk.last_line);
  item.fetch = "kb get " + hit.bundle_id;
  if (main.kind == Kind::kNnk) AddClaim(document, &item);
  AddBlocks("passage", passage, &item.pieces);
  const std::string code = SmallestCode(document);
  if (!code.empty() && passage.find("```cuda") == passage.npos)
    item.pieces.push_back({"code", code});
  const std::string check = SectionUnder(document, kCheckHeadings);
  if (!check.empty() && passage.find(check.substr(0, check.find('\n'))) == passage.npos) {
    AddBlocks("check", check, &item.pieces);
  }
  const std::string pitfalls = SectionUnder(document, kPitfallHeadings);
  if (!pitfalls.empty() && passage.find(pitfalls.substr(0, pitfalls.find('\n'))) == passage.npos) {
    AddBlocks("pitfalls", pitfalls, &item.pieces);
  }
  return item;
}

}  // namespace kb
