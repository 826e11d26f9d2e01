// The front matter of an entry.
#include <algorithm>
#include <cstdio>
#include <set>

#include "kb/json.h"
#include "kb/sha256.h"
#include "tdd/entry_text.h"

namespace kb {
namespace {

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

Value Strings(const std::vector<std::string>& words) {
  Value::List list;
  for (const std::string& word : words) list.emplace_back(word);
  return Value(std::move(list));
}

std::string Flow(const Value& value) {
  if (value.IsString() || value.IsNull()) return WriteJson(value);
  if (!value.IsMap() && !value.IsList()) return value.ToText();
  std::string text;
  for (const auto& [key, item] : value.AsMap()) {
    const bool plain =
        key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos;
    text += (text.empty() ? "" : ", ") + (plain ? key : WriteJson(Value(key))) + ": " + Flow(item);
  }
  for (const Value& item : value.AsList()) text += (text.empty() ? "" : ", ") + Flow(item);
  return value.IsMap() ? "{" + text + "}" : "[" + text + "]";
}

std::string DtypeNames(const Case& of_case) {
  std::set<std::string> names;
  for (const TensorSpec& tensor : of_case.inputs) {
    if (!tensor.scalar) names.insert(DtypeName(tensor.dtype));
  }
  for (const TensorSpec& tensor : of_case.outputs) names.insert(DtypeName(tensor.dtype));
  return Join({names.begin(), names.end()});
}

std::vector<std::string> WorkloadLabels(const Case& of_case) {
  std::vector<std::string> labels;
  for (const Workload& workload : of_case.time) labels.push_back(workload.label);
  return labels;
}

Value ScopeValue(const RecordRequest& request, const Headline& headline) {
  const Case& of_case = *request.of_case;
  const Candidate& candidate = *request.candidate;
  std::string arch = candidate.arch.empty() ? of_case.arch : candidate.arch;
  if (arch.empty()) arch = headline.arch;
  Value scope(Value::Map{{"arch", arch}});
  if (!headline.cuda.empty()) scope.Set("cuda", ">=" + headline.cuda);
  scope.Set("dtype", DtypeNames(of_case));
  scope.Set("shape", "measured: " + Join(WorkloadLabels(of_case)));
  if (!candidate.scope.empty()) scope.Set("says", OnOneLine(candidate.scope));
  return scope;
}

// Timings that the claim is not about and that contradict it.
std::vector<std::string> NotFaster(const Value& measure) {
  std::vector<std::string> found;
  for (const Value& item : measure.AsList()) {
    if (item["faster"].IsBool() && item["faster"].AsBool()) continue;
    found.push_back(item["workload"].ToText() + (item["cold_l2"].AsBool() ? " cold" : " warm") +
                    " (" + Format("%.4gx", item["ratio"]["median"].AsDouble()) + ")");
  }
  return found;
}

Value CandidateValue(const Candidate& candidate, const std::vector<KeptFile>& files) {
  std::vector<std::string> names;
  Value hashes{Value::Map()};
  for (const KeptFile& file : files) {
    names.push_back(file.name);
    hashes.Set(file.name, Sha256(file.bytes));
  }
  return Value(Value::Map{{"id", candidate.id},
                          {"kind", candidate.kind == CandidateKind::kHost ? "host" : "device"},
                          {"files", Strings(names)},
                          {"sha256", candidate.sha256},
                          {"files_sha256", std::move(hashes)},
                          {"flags", Strings(candidate.flags)}});
}

}  // namespace

std::string OnOneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  return text;
}

std::string FrontLine(const std::string& key, const Value& value) {
  return key + ": " + Flow(value) + "\n";
}

std::string ClaimSentence(ClaimKind kind, const Headline& h, const std::string& case_name,
                          const std::string& candidate_id) {
  const bool vowel = h.gpu.find_first_of("AEFHILMNORSX") == 0;  // as its first letter is spoken
  std::string text = std::string("On ") + (vowel ? "an " : "a ") + h.gpu;
  if (!h.cuda.empty()) text += " (CUDA " + h.cuda + ")";
  text += " " + case_name + "/" + candidate_id;
  const std::string state = h.cold_l2 ? " with cold L2" : " with warm L2";
  const std::string takes = " takes " + Format("%.4g us", h.candidate_us) + " for " + h.workload;
  text += kind == ClaimKind::kNegative ? " does not help: it" + takes : takes;
  if (kind == ClaimKind::kBaseline) {
    text += state + ", the baseline of its case";
  } else {
    text += ", " + Format("%.4gx", h.speedup) + Format(" [%.4g, ", h.low) +
            Format("%.4g]", h.high) + " as fast as " + h.baseline + state;
  }
  if (h.percent_of_roofline) {
    text += ", " + Format("%.0f", *h.percent_of_roofline) + " % of the roofline";
  }
  return text;
}

RedCount CountRed(const Value& red) {
  RedCount count;
  for (const Value& mutant : red["mutants"].AsList()) {
    const std::string name = mutant["name"].ToText();
    std::string status = mutant["status"].ToText();
    if (status.empty()) status = mutant["killed_by"].AsList().empty() ? "survived" : "killed";
    if (status == "killed") ++count.killed;
    if (status == "survived") count.survivors.push_back(name);
    if (status == "declared-equivalent") count.declared.push_back(name);
  }
  count.mutants = count.killed + static_cast<int>(count.survivors.size());
  return count;
}

std::string EntryNotWhen(const RecordRequest& request, const Value& measure) {
  std::string text = OnOneLine(request.candidate->not_when);
  if (request.news.claim == ClaimKind::kFaster) {
    const std::string slower = Join(NotFaster(measure));
    if (!slower.empty()) text += (text.empty() ? "" : "; ") + ("not faster on: " + slower);
  }
  if (text.empty()) text = "not known: nothing but the shapes of the scope was measured";
  return text;
}

std::string EntryFrontMatter(const RecordRequest& request, const EntryText& entry,
                             const Value& value) {
  const Case& of_case = *request.of_case;
  const Candidate& candidate = *request.candidate;
  const RedCount red = CountRed(value["red"]);
  std::string text = "---\nkb: nnk/1\n" + FrontLine("id", entry.id);
  text += FrontLine("title", OnOneLine(of_case.title + ": " + candidate.title));
  if (request.news.claim != ClaimKind::kFaster) {
    text += FrontLine("kind", ClaimKindName(request.news.claim));
  }
  text += FrontLine("claim",
                    ClaimSentence(request.news.claim, entry.headline, of_case.name, candidate.id));
  text += FrontLine("scope", ScopeValue(request, entry.headline));
  text += FrontLine("not_when", EntryNotWhen(request, value["measure"]));
  text += FrontLine("case", Value(Value::Map{{"name", of_case.name}, {"sha256", of_case.sha256}}));
  text += FrontLine("candidate", CandidateValue(candidate, entry.files));
  text += FrontLine("state", entry.state.state);
  text += FrontLine("best", BestValue(entry.headline));
  text += FrontLine("red", Value(Value::Map{{"mutants", red.mutants},
                                            {"killed", red.killed},
                                            {"survivors", Strings(red.survivors)}}));
  const StageReport* sanitize = request.evaluation->Find("sanitize");
  text += FrontLine("sanitizer", sanitize == nullptr ? "not run" : VerdictName(sanitize->verdict));
  if (const Value& bits = value["green"]["deterministic"]; bits.IsBool()) {
    text += FrontLine("deterministic", bits);
  }
  text += FrontLine("supersedes", Strings(request.news.supersedes));
  text += FrontLine("related", Strings(request.news.related));
  text += FrontLine("provenance", Value(Value::Map{{"author", "kb"}, {"license", "Apache-2.0"}}));
  return text + "---\n";
}

}  // namespace kb
