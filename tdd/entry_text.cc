#include "tdd/entry_text.h"

#include <algorithm>
#include <cstdio>

namespace kb {
namespace {

constexpr std::ptrdiff_t kMaxCodeLines = 150;  // shown whole
constexpr int kFragmentLines = 80;

std::string Format(const char* format, double number) {
  char text[48];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// A fence longer than any run of backticks inside.
std::string Fenced(const std::string& tag, const std::string& code) {
  size_t longest = 2, run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool ended = code.empty() || code.back() == '\n';
  return fence + tag + "\n" + code + (ended ? "" : "\n") + fence + "\n";
}

// From the line of the first __global__ on.
std::string Fragment(const std::string& code) {
  const size_t global = std::min(code.find("__global__"), code.size());
  const size_t begin = global == code.size() ? 0 : code.rfind('\n', global) + 1;
  size_t end = begin;
  for (int i = 0; i < kFragmentLines && end < code.size(); ++i) {
    end = std::min(code.find('\n', end), code.size() - 1) + 1;
  }
  return code.substr(begin, end - begin);
}

std::string SmallestCode(const Candidate& candidate) {
  const std::string& code = candidate.source_text;
  const bool alone = candidate.kind == CandidateKind::kDevice && candidate.flags.empty() &&
                     candidate.files.empty() && candidate.params.empty();
  if (std::count(code.begin(), code.end(), '\n') <= kMaxCodeLines) {
    return Fenced(alone ? "cuda" : "cuda fragment", code);
  }
  return Fenced("cuda fragment", Fragment(code)) + "\nWhole: `candidate/" + candidate.source +
         "`.\n";
}

std::string Cell(const Value& number, const char* format) {
  return number.IsNumber() ? Format(format, number.AsDouble()) : "";
}

std::string MeasuredTable(const Value& evaluation) {
  std::string text =
      "| workload | L2 | baseline, us | this, us | ratio | 95 % interval | % of roofline |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Value& item : evaluation["measure"].AsList()) {
    const Value::List& ci95 = item["ratio"]["ci95"].AsList();
    text +=
        "| " + item["workload"].ToText() + " | " + (item["cold_l2"].AsBool() ? "cold" : "warm") +
        " | " + Cell(item["baseline"]["median"], "%.5g") + " | " +
        Cell(item["candidate"]["median"], "%.5g") + " | " + Cell(item["ratio"]["median"], "%.4g") +
        " | " + (ci95.size() == 2 ? Cell(ci95[0], "%.4g") + " to " + Cell(ci95[1], "%.4g") : "") +
        " | " + Cell(item["percent_of_roofline"], "%.1f") + " |\n";
  }
  return text;
}

std::string OtherLine(const Evaluation& other) {
  const Value value = ToValue(other);
  std::string line = "- `" + value["candidate"]["id"].AsString() + "`: ";
  const std::optional<Headline> headline = HeadlineOf(value);
  if (!other.verdict.passed() || !headline) {
    return line + VerdictName(other.verdict) + ". " + OnOneLine(other.verdict.message) + "\n";
  }
  return line + Format("%.5g us", headline->candidate_us) + " for " + headline->workload +
         Format(", %.4gx", headline->speedup) + " as fast as " + headline->baseline + ".\n";
}

std::string WhatFailed(const RecordRequest& request, const EntryText& entry, const Value& value) {
  const Headline& headline = entry.headline;
  const RedCount red = CountRed(value["red"]);
  std::string text = "- `" + headline.baseline +
                     "`, the baseline: " + Format("%.5g us", headline.baseline_us) + " for " +
                     headline.workload + ".\n";
  for (const Evaluation& other : request.others) text += OtherLine(other);
  text += "- Its test rejected " + std::to_string(red.killed) + " of " +
          std::to_string(red.mutants) + " wrong kernels" +
          (red.survivors.empty() ? ".\n" : "; these passed it: " + Join(red.survivors) + ".\n");
  if (!red.declared.empty()) {
    text += "- Declared to be right all the same: " + Join(red.declared) + ".\n";
  }
  return text;
}

std::string WhenToUse(const RecordRequest& request) {
  std::string text = request.of_case->title + ".";
  if (!request.candidate->scope.empty())
    text += " For " + OnOneLine(request.candidate->scope) + ".";
  return text + "\n";
}

}  // namespace

SplitNotes ReadNotes(const std::string& notes) {
  SplitNotes split;
  bool in_code = false, of_limit = false;
  for (size_t at = 0; at < notes.size();) {
    const size_t end = std::min(notes.find('\n', at), notes.size());
    std::string line = notes.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("```")) in_code = !in_code;
    const size_t level = line.find_first_not_of('#');
    const bool heading = !in_code && level != std::string::npos && level > 0 && line[level] == ' ';
    if (heading) {
      std::string lower = line;
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      of_limit = lower.find("limit") != std::string::npos;
      if (of_limit) continue;  // the entry has that heading itself
      line = "###" + line.substr(level);
    }
    (of_limit ? split.limit : split.idea) += line + "\n";
  }
  return split;
}

std::string WriteEntryText(const RecordRequest& request, const EntryText& entry) {
  const Candidate& candidate = *request.candidate;
  const Value value = ToValue(*request.evaluation);
  const SplitNotes notes = ReadNotes(entry.notes);
  std::string text = EntryFrontMatter(request, entry, value);
  text += "# " + OnOneLine(candidate.title) + "\n\n## When to use it\n\n" + WhenToUse(request);
  text += "Not when: " + EntryNotWhen(request, value["measure"]) + ".\n\n" + MeasuredTable(value);
  text += "\n## The idea\n\n" + (notes.idea.find_first_not_of(" \n") == std::string::npos
                                     ? OnOneLine(candidate.title) + ".\n"
                                     : notes.idea);
  if (!entry.limit.empty()) text += "\n## What limits it\n\n" + entry.limit + "\n";
  text += "\n## The smallest code\n\n" + SmallestCode(candidate);
  text += "\n## What failed before\n\n" + WhatFailed(request, entry, value);
  text += "\n## How to check it\n\n`kb tdd prove nnk/" + entry.id + "`\n";
  return text;
}

}  // namespace kb
