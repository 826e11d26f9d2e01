#include "cli/index_status.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <set>
#include <utility>

#include "cli/document_json.h"

namespace kb {
namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

int64_t FolderBytes(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; it != end;
       it.increment(error)) {
    if (it->is_regular_file(error)) bytes += static_cast<int64_t>(it->file_size(error));
  }
  return bytes;
}

// The roots as given, from the catalog; and those of the documents, should it not say.
std::vector<std::string> RootsOf(Catalog& catalog, const std::vector<CatalogDocument>& documents) {
  std::set<std::string> roots;
  const std::string text = catalog.Meta("roots");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (end > at) roots.insert(text.substr(at, end - at));
    at = end + 1;
  }
  for (const CatalogDocument& document : documents) roots.insert(document.root);
  return {roots.begin(), roots.end()};
}

void AddDocument(Catalog& catalog, const CatalogDocument& document, IndexStatus* status) {
  ++status->documents[static_cast<size_t>(document.kind)];
  status->chunks += static_cast<int64_t>(catalog.Chunks(document.row).size());
  if (document.state == "stale" || document.state == "refuted") {
    status->stale_entries.push_back(document);
  }
}

Value TextList(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

}  // namespace

IndexStatus ReadStatus(const std::string& kb_dir) {
  Catalog catalog(kb_dir, Catalog::Mode::kRead);
  catalog.BeginRead();
  IndexStatus status;
  status.kb_dir = kb_dir;
  status.generation = catalog.Generation();
  status.embedder = catalog.Meta("embedder");
  const std::string time = catalog.Meta("indexed_ns");
  std::from_chars(time.data(), time.data() + time.size(), status.indexed_at);
  status.indexed_at /= 1000000000;
  const std::vector<CatalogDocument> documents = catalog.Documents();
  for (const CatalogDocument& document : documents) AddDocument(catalog, document, &status);
  status.roots = RootsOf(catalog, documents);
  const Diagnostics all = catalog.AllDiagnostics();
  for (const Diagnostic& diagnostic : all) {
    if (LeavesOut(diagnostic)) status.blocked.push_back(diagnostic);
  }
  catalog.EndRead();
  status.freshness = CompareWithDisk(kb_dir, documents, status.roots, all);
  status.size_bytes = FolderBytes(kb_dir);
  return status;
}

int64_t AgeSeconds(const IndexStatus& status) {
  return status.indexed_at == 0 ? 0 : std::max<int64_t>(0, Now() - status.indexed_at);
}

Value StaleJson(const IndexStatus& status) {
  Value::List entries;
  for (const CatalogDocument& entry : status.stale_entries) {
    entries.push_back(Value(Value::Map{{"id", entry.id}, {"state", entry.state}}));
  }
  return Value(Value::Map{{"changed", TextList(status.freshness.changed)},
                          {"added", TextList(status.freshness.added)},
                          {"removed", TextList(status.freshness.removed)},
                          {"entries", Value(std::move(entries))}});
}

Value StatusJson(const IndexStatus& status) {
  Value::Map documents;
  for (const Kind kind : kKinds) {
    documents.emplace_back(KindName(kind), status.documents[static_cast<size_t>(kind)]);
  }
  Value indexed_at, age_s;  // null if not known
  if (status.indexed_at > 0) {
    indexed_at = status.indexed_at;
    age_s = AgeSeconds(status);
  }
  return Value(Value::Map{{"kb_dir", status.kb_dir},
                          {"generation", status.generation},
                          {"indexed_at", std::move(indexed_at)},
                          {"age_s", std::move(age_s)},
                          {"embedder", status.embedder},
                          {"roots", TextList(status.roots)},
                          {"size_bytes", status.size_bytes},
                          {"documents", Value(std::move(documents))},
                          {"chunks", status.chunks},
                          {"blocked", DiagnosticsJson(status.blocked)},
                          {"stale", StaleJson(status)}});
}

}  // namespace kb
