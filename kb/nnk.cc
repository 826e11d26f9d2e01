#include "kb/nnk.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kb {
namespace {

// A number, or a text that starts with one ("1.27x"). Entries are written by kb, but an
// old or edited one must load too.
std::optional<double> NumberOf(const Value& value) {
  if (value.IsNumber()) return value.AsDouble();
  const std::string& text = value.AsString();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::vector<std::string> Ids(const Value& value) {
  std::vector<std::string> ids;
  if (const std::string one = value.ToText(); !one.empty()) ids.push_back(one);
  for (const Value& item : value.AsList()) ids.push_back(item.ToText());
  return ids;
}

}  // namespace

NnkEntry ParseNnkEntry(const Document& document) {
  const Value& front = document.front_matter;
  const Value& best = front["best"];
  NnkEntry entry;
  entry.id = document.id;
  entry.title = document.title;
  entry.claim = front["claim"].ToText();
  entry.not_when = front["not_when"].ToText();
  const Value& test_case = front["case"];
  entry.case_name = test_case.IsMap() ? test_case["name"].ToText() : test_case.ToText();
  entry.case_sha256 = test_case["sha256"].ToText();
  entry.state = front["state"].ToText();
  entry.gpu = best["gpu"].ToText();
  entry.median_us = NumberOf(best["median_us"]);
  entry.speedup = NumberOf(best["speedup"]);
  if (const Value::List& ci95 = best["ci95"].AsList(); ci95.size() == 2) {
    entry.ci95_low = NumberOf(ci95[0]);
    entry.ci95_high = NumberOf(ci95[1]);
  }
  entry.percent_of_roofline = NumberOf(best["percent_of_roofline"]);
  entry.supersedes = Ids(front["supersedes"]);
  entry.related = Ids(front["related"]);
  return entry;
}

bool IsNnkState(std::string_view state) {
  constexpr std::string_view kStates[] = {"proved", "replicated", "stale", "refuted"};
  return std::find(std::begin(kStates), std::end(kStates), state) != std::end(kStates);
}

}  // namespace kb
