// kb search. With --json what AnswerJson says.
#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "cli/answer_json.h"
#include "cli/filters.h"
#include "cli/run_commands.h"
#include "cli/snippet.h"
#include "cli/table.h"
#include "indexer/retriever.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr int kIndent = 5;
constexpr int kLeastHeading = 12;

Variant VariantOf(const std::string& name) {
  if (name == "lexical") return Variant::kLexical;
  return name == "dense" ? Variant::kDense : Variant::kFull;
}

std::string Fixed(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4f", number);
  return text;
}

std::string KindAndState(const CatalogDocument& document) {
  std::string text = KindName(document.kind);
  return document.state.empty() ? text : text + "/" + document.state;
}

std::string Citation(const Hit& hit) { return hit.document.id + "#" + hit.chunk.id; }

std::string Padded(std::string text, int width) {
  const int missing = width - DisplayWidth(text);
  if (missing > 0) text.append(static_cast<size_t>(missing), ' ');
  return text;
}

std::string Explanation(const Hit& hit) {
  const std::string indent(kIndent, ' ');
  std::string text = indent + "score " + Fixed(hit.score) + "\n";
  for (const Feature& feature : hit.features) {
    text += indent + "  " + Padded(feature.name, 16) + " " + Fixed(feature.value) + " x " +
            Fixed(feature.weight) + " = " + Fixed(feature.value * feature.weight) + "\n";
  }
  return text;
}

// The widths of the columns. A citation is never cut: it is there to be copied. One so long
// that little room is left for the heading stands out of its column.
struct Widths {
  int columns = 0;  // 0: no limit
  int rank = 0, citation = 0, kind = 0;
};

Widths WidthsOf(const std::vector<Hit>& hits, int columns) {
  Widths widths;
  widths.columns = columns;
  widths.rank = DisplayWidth(std::to_string(hits.size()));
  for (const Hit& hit : hits) {
    const int citation = DisplayWidth(Printable(Citation(hit)));
    if (columns == 0 || citation <= columns / 2) {
      widths.citation = std::max(widths.citation, citation);
    }
    widths.kind = std::max(widths.kind, DisplayWidth(KindAndState(hit.document)));
  }
  return widths;
}

// "1  warp-reduction#22268f7b  skill  Pitfalls > Masks"; the heading below if it has no room.
std::string HitLine(const Hit& hit, int rank, const Widths& widths) {
  const std::string number = std::to_string(rank);
  std::string line = std::string(widths.rank - number.size(), ' ') + number + "  " +
                     Padded(Printable(Citation(hit)), widths.citation) + "  " +
                     Padded(KindAndState(hit.document), widths.kind);
  const std::string& own = hit.chunk.heading;
  const std::string heading = Printable(own.empty() ? hit.document.title : own);
  if (widths.columns == 0) return line + "  " + heading + "\n";
  const int room = widths.columns - DisplayWidth(line) - 2;
  if (room >= kLeastHeading) return line + "  " + FitWidth(heading, room) + "\n";
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n" + std::string(kIndent, ' ') + FitWidth(heading, widths.columns - kIndent) +
         "\n";
}

std::string AnswerText(Retriever& retriever, const Answer& answer, const Query& query, bool explain,
                       const Streams& streams) {
  const Widths widths = WidthsOf(answer.hits, streams.out_is_terminal ? streams.columns : 0);
  const int cells = widths.columns > 0 ? widths.columns - kIndent : kSnippetCells;
  std::string text;
  int rank = 0;
  for (const Hit& hit : answer.hits) {
    text += HitLine(hit, ++rank, widths);
    const auto snippet = SnippetOf(retriever, hit, query.text, cells);
    if (!snippet.empty()) {
      text += std::string(kIndent, ' ') + SnippetText(snippet, streams.color) + "\n";
    }
    if (explain) text += Explanation(hit);
  }
  return text;
}

void SayNothingApplies(const Answer& answer, Streams& streams) {
  streams.talk << "kb search: nothing applies"
               << (answer.why.empty() ? "" : ": " + Printable(answer.why)) << '\n';
  if (!answer.nearest_miss) return;
  const Hit& miss = *answer.nearest_miss;
  streams.talk << "nearest miss: " << Printable(Citation(miss)) << " ("
               << KindAndState(miss.document) << ") " << Printable(miss.chunk.heading) << '\n';
}

}  // namespace

int RunSearch(const Args& args, Streams& streams) {
  const std::string variant = args.Get("--variant", "full");
  const Query query = {JoinedWords(args, "QUERY"), FiltersOf(args), args.GetInt("-k", 10),
                       VariantOf(variant)};
  Retriever retriever(FindKbDir(args));
  const Answer answer = retriever.Search(query);
  if (args.Has("--json")) {
    streams.out << WriteJson(AnswerJson(retriever, answer, query, variant), 2) << '\n';
  } else if (answer.hits.empty()) {
    SayNothingApplies(answer, streams);
  } else {
    streams.out << AnswerText(retriever, answer, query, args.Has("--explain"), streams);
  }
  return answer.hits.empty() ? kNothing : kFound;
}

}  // namespace kb
