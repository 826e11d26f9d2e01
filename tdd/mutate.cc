#include "tdd/mutate.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "tdd/mutate_edits.h"

namespace kb {
namespace {

struct Operation {
  const char* name;
  Edits (*find)(const CudaSource& source);
};
constexpr Operation kOperations[] = {
    {"arithmetic", ArithmeticEdits}, {"comparison", ComparisonEdits},
    {"constant", ConstantEdits},     {"dropped-guard", GuardEdits},
    {"dropped-scale", ScaleEdits},   {"dropped-sync", SyncEdits},
    {"loop-bound", LoopEdits},       {"narrowed-accumulator", AccumulatorEdits},
    {"off-by-one", OffByOneEdits},   {"swapped-index", SwappedIndexEdits}};

// Lines stay as many as they were, so that all below keep their numbers. False: nothing changed.
bool KeepLines(std::string_view was, std::string* now) {
  const auto lines = std::count(was.begin(), was.end(), '\n');
  const auto have = std::count(now->begin(), now->end(), '\n');
  if (have < lines) now->append(static_cast<size_t>(lines - have), '\n');
  return was != *now && have <= lines;
}

// All edits that change something, each once, in order of place.
Edits FindEdits(const CudaSource& source) {
  Edits edits;
  std::set<std::pair<std::pair<size_t, size_t>, std::string>> seen;
  for (const Operation& operation : kOperations) {
    for (Edit& edit : operation.find(source)) {
      if (!KeepLines(source.text.substr(edit.at, edit.size), &edit.now)) continue;
      if (!seen.insert({{edit.at, edit.size}, edit.now}).second) continue;
      edits.push_back(std::move(edit));
    }
  }
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Edit& a, const Edit& b) { return a.at < b.at; });
  return edits;
}

// How many of each operation's edits to take: one each in turn until the limit is reached.
std::map<std::string, size_t> Quotas(const std::map<std::string, std::vector<size_t>>& groups,
                                     size_t limit) {
  std::map<std::string, size_t> quotas;
  for (bool any = true; any && limit > 0;) {
    any = false;
    for (const auto& [operation, places] : groups) {
      if (limit == 0 || quotas[operation] == places.size()) continue;
      ++quotas[operation];
      --limit;
      any = true;
    }
  }
  return quotas;
}

Edits Sample(Edits edits, size_t limit) {
  if (edits.size() <= limit) return edits;
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < edits.size(); ++i) groups[edits[i].operation].push_back(i);
  std::vector<size_t> taken;
  for (const auto& [operation, quota] : Quotas(groups, limit)) {
    const std::vector<size_t>& places = groups[operation];
    for (size_t k = 0; k < quota; ++k) {
      taken.push_back(places[(2 * k + 1) * places.size() / (2 * quota)]);
    }
  }
  std::sort(taken.begin(), taken.end());
  Edits sample;
  for (size_t i : taken) sample.push_back(std::move(edits[i]));
  return sample;
}

std::string WithSign(char sign, std::string_view lines) {
  std::string text(1, sign);
  for (char c : lines) {
    text += c;
    if (c == '\n') text += sign;
  }
  return text;
}

Mutant MakeMutant(std::string_view source, int line, const Edit& edit) {
  Mutant mutant;
  mutant.operation = edit.operation;
  mutant.line = line;
  const size_t begin = edit.at == 0 ? 0 : source.rfind('\n', edit.at - 1) + 1;  // npos + 1 is 0
  const size_t end = std::min(source.find('\n', edit.at + edit.size), source.size());
  mutant.column = static_cast<int>(edit.at - begin) + 1;
  mutant.was = source.substr(begin, end - begin);
  mutant.now = std::string(source.substr(begin, edit.at - begin)) + edit.now;
  mutant.now += source.substr(edit.at + edit.size, end - edit.at - edit.size);
  mutant.diff = WithSign('-', mutant.was) + "\n" + WithSign('+', mutant.now);
  mutant.source = std::string(source.substr(0, begin)) + mutant.now;
  mutant.source += source.substr(end);
  return mutant;
}

}  // namespace

const std::vector<std::string>& MutantOperations() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Operation& operation : kOperations) all.emplace_back(operation.name);
    return all;
  }();
  return names;
}

std::vector<Mutant> MutateSource(std::string_view source, size_t limit) {
  std::vector<Mutant> mutants;
  std::map<std::string, int> names;
  size_t counted = 0;
  int line = 1;
  for (const Edit& edit : Sample(FindEdits(LexCuda(source)), limit)) {
    line += static_cast<int>(std::count(source.begin() + counted, source.begin() + edit.at, '\n'));
    counted = edit.at;
    Mutant mutant = MakeMutant(source, line, edit);
    mutant.name =
        mutant.operation + ":" + std::to_string(mutant.line) + ":" + std::to_string(mutant.column);
    const int before = names[mutant.name]++;
    if (before > 0) mutant.name += static_cast<char>('a' + std::min(before, 25));
    mutants.push_back(std::move(mutant));
  }
  return mutants;
}

}  // namespace kb
