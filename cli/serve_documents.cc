#include "cli/serve_documents.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "cli/document_json.h"
#include "cli/place.h"
#include "cli/trace_tree.h"
#include "kb/document.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/nnk.h"
#include "kb/sha256.h"
#include "kb/trace.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 64;
constexpr int64_t kMaxBytes = 1 << 20;
constexpr int64_t kMaxTotal = 8 << 20;

Value Number(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

Value Texts(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

// A link could lead anywhere, so neither the folder nor a file may be one.
std::vector<std::string> EvidenceFiles(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return names;
  for (fs::directory_iterator it(folder, error), end; it != end; it.increment(error)) {
    const bool is_file = fs::is_regular_file(it->symlink_status(error));
    if (is_file && it->path().extension() == ".json") {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Value EvidenceJson(const std::string& path, const std::string& name, int64_t* left) {
  Value::Map json = {{"file", Printable(name)}};
  std::string why;
  const auto text = ReadFile(path, &why, std::min(kMaxBytes, *left));
  std::optional<Value> data;
  if (text) {
    *left -= static_cast<int64_t>(text->size());
    json.emplace_back("sha256", Sha256(*text));
    data = ParseJson(*text, &why);
  }
  if (data) {
    json.emplace_back("data", std::move(*data));
  } else {
    json.emplace_back("error", why);
  }
  return Value(std::move(json));
}

void AddEvidence(const std::string& kb_dir, const std::string& bundle, Value::Map* json) {
  const fs::path folder = fs::path(PathOnDisk(kb_dir, bundle)) / "evidence";
  const std::vector<std::string> names = EvidenceFiles(folder);
  Value::List list;
  int64_t left = kMaxTotal;
  for (const std::string& name : names) {
    if (list.size() == kMaxFiles || left <= 0) break;
    list.push_back(EvidenceJson((folder / name).string(), name, &left));
  }
  const auto left_out = static_cast<int64_t>(names.size() - list.size());
  json->emplace_back("evidence", Value(std::move(list)));
  json->emplace_back("evidence_left_out", left_out);
}

}  // namespace

Value WholeTraceJson(const Found& found) {
  const Trace trace = ParseTrace(ParseDocument(found.document->path, found.text));
  const std::vector<AttemptNode> order = AttemptTree(trace);
  Value::Map json = TraceJson(*found.document, trace);
  for (auto& [name, value] : json) {
    if (name != "attempts") continue;
    Value::List attempts = value.AsList();
    for (size_t i = 0; i < std::min(attempts.size(), order.size()); ++i) {
      attempts[i].Set("fields", trace.attempts[order[i].attempt].fields);
    }
    value = Value(std::move(attempts));
  }
  json.emplace_back("diagnostics", DiagnosticsJson(trace.diagnostics));
  return Value(std::move(json));
}

Value EntryJson(const std::string& kb_dir, const Found& found) {
  const Document document = ParseDocument(found.document->path, found.text);
  const NnkEntry entry = ParseNnkEntry(document);
  const bool has_interval = entry.ci95_low && entry.ci95_high;
  Value::Map json = {
      {"document", Value(DocumentJson(*found.document))},
      {"claim", entry.claim},
      {"not_when", entry.not_when},
      {"case", Value(Value::Map{{"name", entry.case_name}, {"sha256", entry.case_sha256}})},
      {"gpu", entry.gpu},
      {"median_us", Number(entry.median_us)},
      {"speedup", Number(entry.speedup)},
      {"ci95", has_interval ? Value(Value::List{*entry.ci95_low, *entry.ci95_high}) : Value()},
      {"percent_of_roofline", Number(entry.percent_of_roofline)},
      {"supersedes", Texts(entry.supersedes)},
      {"related", Texts(entry.related)},
      {"front_matter", document.front_matter}};
  AddEvidence(kb_dir, found.document->bundle, &json);
  return Value(std::move(json));
}

}  // namespace kb
