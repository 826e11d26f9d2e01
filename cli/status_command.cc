// kb status. With --json what StatusJson says; with --stale too, StaleJson and `proofs`: the
// entries of nnk/ that must be proved again or are refuted, [{id, state, why}].
#include <cstdio>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>

#include "cli/index_status.h"
#include "cli/run_commands.h"
#include "cli/table.h"
#include "cli/tdd_places.h"
#include "kb/file.h"
#include "kb/json.h"
#include "tdd/record.h"
#include "tdd/toolchain.h"

namespace kb {
namespace {

constexpr size_t kShown = 20;  // lines of each list in text

std::string Age(const IndexStatus& status) {
  if (status.indexed_at == 0) return "at a time not known";
  const int64_t seconds = AgeSeconds(status);
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

std::string Facts(const IndexStatus& status) {
  std::string documents, roots;
  for (const Kind kind : kKinds) {
    documents += (documents.empty() ? "" : ", ") +
                 std::to_string(status.documents[static_cast<size_t>(kind)]) + " " + KindName(kind);
  }
  for (const std::string& root : status.roots) roots += (roots.empty() ? "" : " ") + root;
  Table table({{""}, {""}});
  table.AddRow({"index", status.kb_dir + ", " + Bytes(status.size_bytes) + ", generation " +
                             std::to_string(status.generation) + ", " + Age(status)});
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

void PrintStale(const IndexStatus& status, bool all, Streams& streams) {
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

// The toolkit that would compile here, "13.0"; "" if there is none.
std::string ToolkitVersion() {
  const std::unique_ptr<Toolchain> toolchain = OpenNvrtc(nullptr);
  if (toolchain == nullptr) return "";
  const std::string version = toolchain->version();
  return version.substr(version.find_last_of(' ') + 1);
}

Value ProofsJson(const std::vector<StaleEntry>& entries) {
  Value list = Value::List{};
  for (const StaleEntry& entry : entries) {
    list.Add(Value().Set("id", entry.id).Set("state", entry.state).Set("why", entry.why));
  }
  return list;
}

void PrintProofs(const std::vector<StaleEntry>& entries, Streams& streams) {
  for (const StaleEntry& entry : entries) {
    streams.out << entry.state << "  nnk/" << Printable(entry.id) << ": " << Printable(entry.why)
                << '\n';
  }
  if (!entries.empty() && !streams.quiet) {
    streams.talk << "prove them again on a GPU: kb tdd prove ENTRY\n";
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
  const IndexStatus status = ReadStatus(kb_dir);
  const bool only_stale = args.Has("--stale");
  const std::vector<StaleEntry> proofs =
      only_stale ? StaleEntries(kNnkFolder, kCasesFolder, ToolkitVersion(), "")
                 : std::vector<StaleEntry>();
  if (args.Has("--json")) {
    Value value = only_stale ? StaleJson(status) : StatusJson(status);
    if (only_stale) value.Set("proofs", ProofsJson(proofs));
    streams.out << WriteJson(value, 2) << '\n';
  } else {
    if (!only_stale) streams.out << Facts(status);
    if (!only_stale) {
      for (const Diagnostic& blocked : status.blocked) {
        streams.out << "blocked  " << FormatDiagnostic(blocked) << '\n';
      }
    }
    PrintStale(status, only_stale, streams);
    PrintProofs(proofs, streams);
  }
  return only_stale && (status.IsStale() || !proofs.empty()) ? kNothing : kFound;
}

}  // namespace kb
