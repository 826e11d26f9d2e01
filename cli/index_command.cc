// kb index. With --json one value: {kb_dir, generation, documents, chunks, added, changed,
// removed, unchanged, blocked, retrained, seconds: {read, index, train, write}, diagnostics}.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <string>
#include <thread>

#include "cli/document_json.h"
#include "cli/freshness.h"
#include "cli/place.h"
#include "cli/progress.h"
#include "cli/run_commands.h"
#include "indexer/ingest.h"
#include "kb/catalog.h"
#include "kb/error.h"
#include "kb/json.h"

namespace kb {
namespace {

// The embedder of the last run; "" if nothing is indexed (none, damaged or another version:
// Ingest makes a new one).
std::string LastEmbedder(const std::string& kb_dir) {
  try {
    Catalog catalog(kb_dir, Catalog::Mode::kRead);
    return catalog.Generation() > 0 ? catalog.Meta("embedder") : "";
  } catch (const Error&) {
    return "";
  }
}

// Empty: those of the last run.
std::vector<std::string> RootsOf(const Args& args, bool is_indexed) {
  std::vector<std::string> roots = args.All("ROOT");
  if (!roots.empty() || is_indexed) return roots;
  roots = DefaultRoots();
  if (roots.empty()) {
    throw Error("no skills, traces or nnk folder here; name what to index: kb index FOLDER");
  }
  return roots;
}

std::string EmbedderOf(const Args& args, const std::string& last) {
  if (!args.Has("--embedder")) return last.empty() ? IngestOptions().embedder : last;
  std::string name = args.Get("--embedder");
  const std::string folder = "model2vec:", url = "http:";
  if (name == "lsa" || name == "none") return name;
  if (name.starts_with(folder) && name.size() > folder.size()) {  // found again from anywhere
    return folder + std::filesystem::absolute(name.substr(folder.size())).string();
  }
  if (name.starts_with(url) && name.find('#') != std::string::npos) return name;
  throw Error("--embedder takes lsa, none, model2vec:FOLDER or http:URL#MODEL, not '" + name + "'");
}

int ThreadsOf(const Args& args) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return args.GetInt("--threads", std::clamp(cores, 1, 8));
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", seconds);
  return text;
}

std::string Summary(const IngestReport& report, const std::string& kb_dir) {
  const auto count = [](int n, const char* what) { return std::to_string(n) + " " + what; };
  std::string line = count(report.documents, "documents, ") + count(report.chunks, "passages in ") +
                     kb_dir + " (" + count(report.added, "added, ") +
                     count(report.changed, "changed, ") + count(report.removed, "removed, ") +
                     count(report.unchanged, "unchanged");
  if (report.blocked > 0) line += ", " + count(report.blocked, "blocked");
  const double seconds = report.read_s + report.index_s + report.train_s + report.write_s;
  return line + "; " + Seconds(seconds) + ")";
}

Value ReportJson(const IngestReport& report, const std::string& kb_dir) {
  return Value(Value::Map{{"kb_dir", kb_dir},
                          {"generation", report.generation},
                          {"documents", report.documents},
                          {"chunks", report.chunks},
                          {"added", report.added},
                          {"changed", report.changed},
                          {"removed", report.removed},
                          {"unchanged", report.unchanged},
                          {"blocked", report.blocked},
                          {"retrained", report.retrained},
                          {"seconds", Value(Value::Map{{"read", report.read_s},
                                                       {"index", report.index_s},
                                                       {"train", report.train_s},
                                                       {"write", report.write_s}})},
                          {"diagnostics", DiagnosticsJson(report.diagnostics)}});
}

void NameLeftOut(const IngestReport& report, Streams& streams) {
  for (const Diagnostic& diagnostic : report.diagnostics) {
    if (LeavesOut(diagnostic)) streams.talk << FormatDiagnostic(diagnostic) << '\n';
  }
}

}  // namespace

int RunIndex(const Args& args, Streams& streams) {
  const std::string kb_dir = FindKbDir(args);
  const std::string last = LastEmbedder(kb_dir);
  Progress progress(streams);
  IngestOptions options;
  options.roots = RootsOf(args, !last.empty());
  options.embedder = EmbedderOf(args, last);
  options.rebuild = args.Has("--rebuild");
  options.allow_suppressed = args.Has("--allow-suppressed");
  options.threads = ThreadsOf(args);
  options.progress = [&progress](const char* phase, int64_t done, int64_t total) {
    progress.Show(phase, done, total);
  };
  const IngestReport report = Ingest(kb_dir, options);
  progress.Clear();
  if (!streams.quiet) NameLeftOut(report, streams);
  if (args.Has("--json")) {
    streams.out << WriteJson(ReportJson(report, kb_dir), 2) << '\n';
  } else {
    streams.out << Summary(report, kb_dir) << '\n';
  }
  return kFound;
}

}  // namespace kb
