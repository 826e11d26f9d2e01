#include "indexer/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "indexer/context_item.h"
#include "indexer/token_count.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

// A further item must come this near to the first one's score: a weak one misleads.
constexpr double kLeastShareOfBest = 0.6;
// How much of the budget the first so many items may fill before the next one gets its turn.
constexpr std::array kShares = {0.60, 0.85, 1.0};
// Below this many free tokens a further item would be a heading without use.
constexpr int kLeastItem = 150;
constexpr int kMostLeftOut = 5;

// An item and which of its pieces are in.
struct Draft {
  ContextItem item;
  std::vector<bool> taken;  // by piece
};

// At first a part may fill only so much of its item's share: the code must not be crowded out by
// the idea, nor the check by pitfalls. What is left at the end is given out without these limits.
double PartShare(std::string_view part) {
  return part == "idea" ? 0.40 : part == "pitfalls" || part == "when" ? 0.15 : 1.0;
}

// What stands above a part in Markdown; the rest needs no label.
std::string_view PartLabel(std::string_view part) {
  return part == "check"      ? "How to check:\n"
         : part == "pitfalls" ? "Pitfalls:\n"
         : part == "when"     ? "When to use, and when not:\n"
                              : "";
}

struct Page {
  std::vector<Draft> items;
  std::vector<std::pair<std::string, std::string>> left_out;  // title, command
  std::string nothing;                                        // why, if nothing applies
};

std::string Attribute(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    out += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  }
  return out;
}

std::string OpeningTag(const ContextItem& item) {
  std::string tag = fmt::format("<kb-item id=\"{}\" kind=\"{}\" trust=\"{}\"", Attribute(item.id),
                                item.kind, item.trust);
  if (!item.gpu.empty()) tag += fmt::format(" gpu=\"{}\"", Attribute(item.gpu));
  if (!item.cuda.empty()) tag += fmt::format(" cuda=\"{}\"", Attribute(item.cuda));
  return tag + fmt::format(" source=\"{}\" sha256=\"{}\">\n", Attribute(item.source), item.sha256);
}

bool IsCut(const Draft& draft) {
  return std::ranges::find(draft.taken, false) != draft.taken.end();
}

std::vector<const ContextPiece*> Taken(const Draft& draft) {
  std::vector<const ContextPiece*> pieces;
  for (size_t i = 0; i < draft.taken.size(); ++i) {
    if (draft.taken[i]) pieces.push_back(&draft.item.pieces[i]);
  }
  return pieces;
}

std::string Markdown(const Page& page) {
  std::string out;
  for (const Draft& draft : page.items) {
    const ContextItem& item = draft.item;
    out += OpeningTag(item);
    out += fmt::format("## {}\nApplies to: {}\n\n", EscapeDelimiters(Printable(item.title)),
                       EscapeDelimiters(Printable(item.applies)));
    std::string_view part;
    for (const ContextPiece* piece : Taken(draft)) {
      if (part != piece->part) out += PartLabel(piece->part);
      part = piece->part;
      out += EscapeDelimiters(piece->text);
    }
    out += fmt::format("Cite: {}{}\n</kb-item>\n", EscapeDelimiters(Printable(item.citation)),
                       IsCut(draft) ? "; cut to fit, all of it: " + Printable(item.fetch) : "");
  }
  if (!page.nothing.empty()) out += page.nothing + "\n";
  for (const auto& [title, command] : page.left_out) {
    out +=
        fmt::format("Left out: {} ({})\n", EscapeDelimiters(Printable(title)), Printable(command));
  }
  return out;
}

std::string Xml(const Page& page) {
  std::string out = "<kb-context>\n";
  for (const Draft& draft : page.items) {
    const ContextItem& item = draft.item;
    out += OpeningTag(item);
    out += fmt::format("<title>{}</title>\n<applies>{}</applies>\n", Attribute(item.title),
                       Attribute(item.applies));
    for (const ContextPiece* piece : Taken(draft)) {
      out += fmt::format("<kb-{0}>\n{1}</kb-{0}>\n", piece->part, EscapeDelimiters(piece->text));
    }
    out += fmt::format("<cite>{}</cite>\n", Attribute(item.citation));
    if (IsCut(draft)) out += fmt::format("<cut fetch=\"{}\"/>\n", Attribute(item.fetch));
    out += "</kb-item>\n";
  }
  if (!page.nothing.empty())
    out += fmt::format("<nothing-applies>{}</nothing-applies>\n", Attribute(page.nothing));
  for (const auto& [title, command] : page.left_out) {
    out +=
        fmt::format("<left-out fetch=\"{}\">{}</left-out>\n", Attribute(command), Attribute(title));
  }
  return out + "</kb-context>\n";
}

Value JsonItem(const Draft& draft) {
  const ContextItem& item = draft.item;
  Value value;
  value.Set("id", item.id).Set("kind", item.kind).Set("trust", item.trust);
  value.Set("title", item.title).Set("applies", item.applies);
  value.Set("gpu", item.gpu).Set("cuda", item.cuda);
  value.Set("source", item.source).Set("sha256", item.sha256).Set("citation", item.citation);
  Value parts = Value::List{};
  for (const ContextPiece* piece : Taken(draft)) {
    Value part;
    part.Set("part", piece->part).Set("text", EscapeDelimiters(piece->text));
    parts.Add(part);
  }
  value.Set("pieces", parts).Set("cut", IsCut(draft)).Set("fetch", item.fetch);
  return value;
}

std::string Json(const Page& page) {
  Value items = Value::List{}, left_out = Value::List{};
  for (const Draft& draft : page.items) items.Add(JsonItem(draft));
  for (const auto& [title, command] : page.left_out) {
    Value line;
    line.Set("title", title).Set("fetch", command);
    left_out.Add(line);
  }
  Value value;
  value.Set("nothing_applies", !page.nothing.empty()).Set("why", page.nothing);
  value.Set("items", items).Set("left_out", left_out);
  return WriteJson(value) + "\n";
}

std::string Render(const Page& page, ContextFormat format) {
  switch (format) {
    case ContextFormat::kMarkdown:
      return Markdown(page);
    case ContextFormat::kXml:
      return Xml(page);
    case ContextFormat::kJson:
      return Json(page);
  }
  return "";
}

// Adds what fits to a page while the output stays within a number of tokens.
class Filler {
 public:
  Filler(Page* page, ContextFormat format) : page_(page), format_(format) {}

  [[nodiscard]] bool Fits(int tokens) const {
    return CountTokens(Render(*page_, format_)) <= tokens;
  }

  // A new item with the first of its pieces that fits, or nothing.
  bool Open(ContextItem item, int tokens) {
    const size_t pieces = item.pieces.size();
    page_->items.push_back({std::move(item), std::vector<bool>(pieces, false)});
    for (size_t i = 0; i < pieces; ++i) {
      page_->items.back().taken[i] = true;
      if (Fits(tokens)) return true;
      page_->items.back().taken[i] = false;
    }
    page_->items.pop_back();
    return false;
  }

  // Piece by piece. One that does not fit ends its part (a gap would mislead); the next part,
  // such as the code, may still fit. `share`: tokens that this item may add, for part limits.
  void Fill(size_t index, int tokens, double share) {
    Draft& draft = page_->items[index];
    std::string_view part, ended;
    double spent = 0;
    for (size_t i = 0; i < draft.taken.size(); ++i) {
      const ContextPiece& piece = draft.item.pieces[i];
      if (part != piece.part) spent = 0;
      part = piece.part;
      spent += CountTokens(piece.text);
      if (draft.taken[i] || part == ended) continue;
      draft.taken[i] = true;
      if (spent <= PartShare(part) * share && Fits(tokens)) continue;
      draft.taken[i] = false;
      ended = part;
    }
  }

  void LeaveOut(const Hit& hit, int tokens) {
    page_->left_out.emplace_back(hit.document.title, "kb get " + hit.bundle_id);
    if (!Fits(tokens)) page_->left_out.pop_back();
  }

 private:
  Page* page_;
  ContextFormat format_;
};

std::string NothingApplies(const Answer& answer) {
  std::string text = "Nothing here applies: " + Printable(answer.why) + ".";
  if (answer.nearest_miss) {
    text +=
        fmt::format(" Nearest miss: {} (kb get {}), confidence {:.2f} below {:.2f}.",
                    Printable(answer.nearest_miss->document.title),
                    Printable(answer.nearest_miss->bundle_id), answer.confidence, answer.threshold);
  }
  return EscapeDelimiters(text);
}

// The hits that deserve an item: near enough to the best.
size_t CountStrong(const std::vector<Hit>& hits, int most) {
  size_t n = 0;
  while (n < hits.size() && static_cast<int>(n) < most &&
         hits[n].score >= kLeastShareOfBest * hits[0].score) {
    ++n;
  }
  return n;
}

void WriteItems(Retriever& retriever, const Query& query, const std::vector<Hit>& hits,
                const ContextOptions& options, Page* page) {
  Filler filler(page, options.format);
  const size_t strong = CountStrong(hits, options.max_items);
  int before = 0;
  for (size_t i = 0; i < strong; ++i) {
    const double share = strong == 1 ? 1.0 : kShares[std::min(i, kShares.size() - 1)];
    const int until = static_cast<int>(share * options.budget_tokens);
    const bool room = i == 0 || filler.Fits(options.budget_tokens - kLeastItem);
    if (!room || !filler.Open(MakeContextItem(retriever, hits[i], query), options.budget_tokens)) {
      filler.LeaveOut(hits[i], options.budget_tokens);
      continue;
    }
    filler.Fill(page->items.size() - 1, until, until - before);
    before = until;
  }
  for (size_t i = strong; i < hits.size() && page->left_out.size() < kMostLeftOut; ++i) {
    filler.LeaveOut(hits[i], options.budget_tokens);
  }
  const double all = 1e9;
  for (size_t i = 0; i < page->items.size(); ++i) filler.Fill(i, options.budget_tokens, all);
}

}  // namespace

std::string EscapeDelimiters(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t at = i + 1;
    while (at < text.size() && (text[at] == '/' || (text[at] > 0 && text[at] <= ' '))) ++at;
    const std::string_view name = text.substr(at, 2);
    const bool ours =
        text[i] == '<' && (name == "kb" || name == "KB" || name == "Kb" || name == "kB");
    out += ours ? "&lt;" : std::string(1, text[i]);
  }
  return out;
}

Context WriteContext(Retriever& retriever, const Query& query, const ContextOptions& options) {
  Query wide = query;
  wide.k = std::max(options.max_items, 0) + kMostLeftOut;
  const Answer answer = retriever.Search(wide);
  Page page;
  if (answer.nothing_applies) page.nothing = NothingApplies(answer);
  WriteItems(retriever, query, answer.hits, options, &page);
  Context context;
  context.text = Render(page, options.format);
  context.tokens = CountTokens(context.text);
  if (context.tokens > options.budget_tokens) context.text.clear(), context.tokens = 0;
  context.items = static_cast<int>(page.items.size());
  context.left_out = static_cast<int>(page.left_out.size());
  context.nothing_applies = answer.nothing_applies;
  return context;
}

}  // namespace kb
