// kb status. With --json one value:
//   {kb_dir, generation, indexed_at (Unix seconds or null), age_s, embedder, roots,
//    size_bytes, documents: {skill, trace, nnk, page}, chunks, blocked: [diagnostic...],
//    stale: {changed, added, removed: [path...], entries: [{id, state}...]}}
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "cli/document_json.h"
#include "cli/freshness.h"
#include "cli/run_commands.h"
#include "cli/table.h"
#include "kb/catalog.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr Kind kKinds[] = {Kind::kSkill, Kind::kTrace, Kind::kNnk, Kind::kPage};
constexpr size_t kShown = 20;  // lines of each list in text

struct Status {
  std::string kb_dir;
  int64_t generation = 0;
  int64_t indexed_at = 0;  // 0: not known
  std::string embedder;
  std::vector<std::string> roots;
  int64_t size_bytes = 0;
  std::array<int, std::size(kKinds)> documents = {};
  int64_t chunks = 0;
  Diagnostics blocked;
  Freshness freshness;
  std::vector<CatalogDocument> stale_entries;

  [[nodiscard]] bool IsStale() const { return !freshness.IsFresh() || !stale_entries.empty(); }
};

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

void AddDocument(Catalog& catalog, const CatalogDocument& document, Status* status) {
  ++status->documents[static_cast<size_t>(document.kind)];
  status->chunks += static_cast<int64_t>(catalog.Chunks(document.row).size());
  if (document.state == "stale" || document.state == "refuted") {
    status->stale_entries.push_back(document);
  }
}

Status ReadStatus(const std::string& kb_dir) {
  Catalog catalog(kb_dir, Catalog::Mode::kRead);
  catalog.BeginRead();
  Status status;
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

Value TextList(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

Value StaleJson(const Status& status) {
  Value::List entries;
  for (const CatalogDocument& entry : status.stale_entries) {
    entries.push_back(Value(Value::Map{{"id", entry.id}, {"state", entry.state}}));
  }
  return Value(Value::Map{{"changed", TextList(status.freshness.changed)},
                          {"added", TextList(status.freshness.added)},
                          {"removed", TextList(status.freshness.removed)},
                          {"entries", Value(std::move(entries))}});
}

Value StatusJson(const Status& status) {
  Value::Map documents;
  for (const Kind kind : kKinds) {
    documents.emplace_back(KindName(kind), status.documents[static_cast<size_t>(kind)]);
  }
  Value indexed_at, age_s;  // null if not known
  if (status.indexed_at > 0) {
    indexed_at = status.indexed_at;
    age_s = Now() - status.indexed_at;
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

std::string Age(int64_t indexed_at) {
  if (indexed_at == 0) return "at a time not known";
  const int64_t seconds = std::max<int64_t>(0, Now() - indexed_at);
  if (seconds < 120) return std::to_string(seconds) + " s ago";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min ago";
  if (seconds < 172800) return std::to_string(seconds / 3600) + " h ago";
  return std::to_string(seconds / 86400) + " days ago";
}

std::string Bytes(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

std::string Facts(const Status& status) {
  std::string documents, roots;
  for (const Kind kind : kKinds) {
    documents += (documents.empty() ? "" : ", ") +
                 std::to_string(status.documents[static_cast<size_t>(kind)]) + " " + KindName(kind);
  }
  for (const std::string& root : status.roots) roots += (roots.empty() ? "" : " ") + root;
  Table table({{""}, {""}});
  table.AddRow({"index", status.kb_dir + ", " + Bytes(status.size_bytes) + ", generation " +
                             std::to_string(status.generation) + ", " + Age(status.indexed_at)});
  table.AddRow({"roots", roots});
  table.AddRow({"documents", documents});
  table.AddRow({"passages", std::to_string(status.chunks)});
  table.AddRow({"embedder", status.embedder});
  return table.Draw();
}

void PrintList(const char* what, const std::vector<std::string>& items, bool all,
               Streams& streams) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (!all && i == kShown) {
      streams.out << what << "  ... and " << items.size() - i << " more: kb status --stale\n";
      return;
    }
    streams.out << what << "  " << Printable(items[i]) << '\n';
  }
}

void PrintStale(const Status& status, bool all, Streams& streams) {
  PrintList("changed", status.freshness.changed, all, streams);
  PrintList("added", status.freshness.added, all, streams);
  PrintList("removed", status.freshness.removed, all, streams);
  for (const CatalogDocument& entry : status.stale_entries) {
    streams.out << entry.state << "  " << Printable(entry.id) << '\n';
  }
  if (!status.freshness.IsFresh() && !streams.quiet) {
    streams.talk << "the index is behind the files; bring it up to date: kb index\n";
  }
}

}  // namespace

int RunStatus(const Args& args, Streams& streams) {
  const std::string kb_dir = FindKbDir(args);
  std::error_code error;
  if (!std::filesystem::is_directory(kb_dir, error)) {
    streams.talk << "kb status: nothing is indexed in " << Printable(kb_dir)
                 << "; index something: kb index FOLDER\n";
    return kNothing;
  }
  const Status status = ReadStatus(kb_dir);
  const bool only_stale = args.Has("--stale");
  if (args.Has("--json")) {
    streams.out << WriteJson(only_stale ? StaleJson(status) : StatusJson(status), 2) << '\n';
  } else {
    if (!only_stale) streams.out << Facts(status);
    if (!only_stale) {
      for (const Diagnostic& blocked : status.blocked) {
        streams.out << "blocked  " << FormatDiagnostic(blocked) << '\n';
      }
    }
    PrintStale(status, only_stale, streams);
  }
  return only_stale && status.IsStale() ? kNothing : kFound;
}

}  // namespace kb
