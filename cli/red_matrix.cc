#include "cli/red_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/table.h"
#include "kb/file.h"

namespace kb {
namespace {

constexpr size_t kMaxTests = 200;

bool Kills(const Value& mutant, std::string_view test) {
  const Value::List& killers = mutant["killed_by"].AsList();
  return std::ranges::any_of(killers, [&](const Value& v) { return v.AsString() == test; });
}

int CountStatus(const Value& red, std::string_view status) {
  return static_cast<int>(std::ranges::count_if(
      red["mutants"].AsList(), [&](const Value& m) { return m["status"].AsString() == status; }));
}

// "1  Rmsnorm.MatchesReference  kills 31"
std::string TestTable(const Value& red) {
  Table table({{"", true}, {"TEST", false}, {"", false}});
  int number = 0;
  for (const Value& test : red["tests"].AsList()) {
    const auto kills = std::ranges::count_if(red["mutants"].AsList(), [&](const Value& mutant) {
      return Kills(mutant, test.AsString());
    });
    table.AddRow({std::to_string(++number), test.AsString(),
                  kills == 0 ? "kills nothing" : fmt::format("kills {}", kills)});
  }
  return table.Draw();
}

std::string Cells(const Value& red, const Value& mutant) {
  std::string cells;
  for (const Value& test : red["tests"].AsList()) {
    if (cells.size() == kMaxTests) break;
    cells += Kills(mutant, test.AsString()) ? '#' : '.';
  }
  return cells;
}

// "killed", or what killed it that is no test.
std::string StatusWords(const Value& mutant) {
  const std::string& status = mutant["status"].AsString();
  const Value::List& killers = mutant["killed_by"].AsList();
  for (const char* other : {"runtime", "timeout", "sanitizer"}) {
    if (killers.size() == 1 && killers[0].AsString() == other) return status + ": " + other;
  }
  return status == "survived" ? "SURVIVED" : status;
}

// The digits of the tests' numbers above their column: 1 2 ... 9 0 1.
std::string NumberLine(size_t tests) {
  std::string line;
  for (size_t i = 1; i <= std::min(tests, kMaxTests); ++i) {
    line += static_cast<char>('0' + i % 10);
  }
  return line;
}

std::string MutantTable(const Value& red) {
  Table table({{"MUTANT", false}, {NumberLine(red["tests"].AsList().size()), false}, {"", false}});
  for (const Value& mutant : red["mutants"].AsList()) {
    const std::string& status = mutant["status"].AsString();
    if (status == "duplicate" || status == "not compiled") continue;
    table.AddRow({mutant["name"].AsString(), Cells(red, mutant), StatusWords(mutant)});
  }
  return table.Draw();
}

// Name, reason and diff of each mutant with this status.
std::string Diffs(const Value& red, std::string_view status, std::string_view title) {
  std::string text;
  for (const Value& mutant : red["mutants"].AsList()) {
    if (mutant["status"].AsString() != status) continue;
    const std::string& note = mutant["note"].AsString();
    text += fmt::format("\n{} {}{}\n", title, Printable(mutant["name"].AsString()),
                        note.empty() ? "" : ": " + Printable(note));
    const std::string& diff = mutant["diff"].AsString();
    for (size_t at = 0; at < diff.size();) {
      const size_t end = std::min(diff.find('\n', at), diff.size());
      text += "  " + Printable(diff.substr(at, end - at)) + "\n";
      at = end + 1;
    }
  }
  return text;
}

std::string Summary(const Value& red) {
  const int killed = CountStatus(red, "killed"), survived = CountStatus(red, "survived");
  std::string text = fmt::format("\n{} of {} wrong kernels rejected", killed, killed + survived);
  for (const char* status :
       {"equivalent", "declared-equivalent", "duplicate", "not compiled", "not run"}) {
    const int count = CountStatus(red, status);
    if (count > 0) text += fmt::format(", {} {}", count, status);
  }
  text += "\n";
  if (red["score"].IsNumber()) {
    text += fmt::format("score {:.2f}, needed {:.2f}", red["score"].AsDouble(),
                        red["threshold"].AsDouble());
    if (red["source_score"].IsNumber() && red["builtin_score"].IsNumber()) {
      text += fmt::format(" (built in {:.2f}, source {:.2f})", red["builtin_score"].AsDouble(),
                          red["source_score"].AsDouble());
    }
    text += "\n";
  }
  for (const Value& finding : red["findings"].AsList()) {
    text += Printable(finding.AsString()) + "\n";
  }
  return text;
}

std::string Fitted(const std::string& text, int columns) {
  if (columns <= 0) return text;
  std::string fitted;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    fitted += FitWidth(text.substr(at, end - at), columns) + "\n";
    at = end + 1;
  }
  return fitted;
}

}  // namespace

std::string DrawKillMatrix(const Value& red, int columns) {
  if (red["mutants"].AsList().empty()) return "";
  return Fitted(TestTable(red) + "\n" + MutantTable(red) + Diffs(red, "survived", "survived:") +
                    Diffs(red, "declared-equivalent", "declared equivalent:") + Summary(red),
                columns);
}

}  // namespace kb
