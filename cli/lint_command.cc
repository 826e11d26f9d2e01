// kb lint. With --format json one value: {files, errors, warnings, notes, blocks,
// cuda_blocks: {found, compiled, toolchain}, diagnostics: [...]}; sarif: SARIF 2.1.0.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <string>

#include "cli/cuda_blocks.h"
#include "cli/document_json.h"
#include "cli/place.h"
#include "cli/progress.h"
#include "cli/run_commands.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/lint.h"
#include "kb/sarif.h"

namespace kb {
namespace {

struct LintResult {
  int files = 0;
  int cuda_found = 0, cuda_compiled = 0;
  std::string toolchain;     // its version; "" if none was used
  std::string no_toolchain;  // why there is none
  Diagnostics diagnostics;

  [[nodiscard]] int Count(Severity severity) const {
    return static_cast<int>(
        std::count_if(diagnostics.begin(), diagnostics.end(),
                      [severity](const Diagnostic& d) { return d.severity == severity; }));
  }
};

using Paths = std::vector<std::string>;

Paths FindAll(const Paths& roots, Diagnostics* diagnostics) {
  Paths paths;
  for (const std::string& root : roots) {
    for (FoundFile& file : FindDocuments(root, diagnostics)) paths.push_back(std::move(file.path));
  }
  // "lint ." and "lint skills" name the same file alike.
  for (std::string& path : paths) path.erase(0, path.starts_with("./") ? 2 : 0);
  for (Diagnostic& found : *diagnostics) {
    found.path.erase(0, found.path.starts_with("./") ? 2 : 0);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

void AddUnreadable(const std::string& path, const std::string& why, Diagnostics* diagnostics) {
  Diagnostic unreadable;
  unreadable.severity = Severity::kError;
  unreadable.rule = "scan-unreadable";
  unreadable.path = path;
  unreadable.message = "cannot be read: " + why;
  unreadable.mend = "make it a readable file of at most 16 MiB, or leave it out";
  diagnostics->push_back(std::move(unreadable));
}

// The states of the entries among `paths`, and of those in ./nnk, which skills cite.
std::map<std::string, std::string> EntryStates(Paths paths) {
  std::error_code error;
  if (std::filesystem::is_directory("nnk", error)) {
    Diagnostics ignored;
    for (FoundFile& file : FindDocuments("nnk", &ignored)) paths.push_back(std::move(file.path));
  }
  std::map<std::string, std::string> states;
  for (const std::string& path : paths) {
    if (BaseName(path) != "NNK.md") continue;
    if (auto text = ReadFile(path)) {
      const Document entry = ParseDocument(path, std::move(*text));
      states.emplace(entry.id, entry.state);
    }
  }
  return states;
}

LintContext ContextOf(const Paths& paths) {
  LintContext context;
  auto states = EntryStates(paths);
  if (states.empty()) return context;  // foreign skills cite what is not here
  context.entry_state = [states = std::move(states)](std::string_view id) {
    const auto found = states.find(std::string(id));
    return found == states.end() ? std::string() : found->second;
  };
  return context;
}

void LintFile(const std::string& path, const LintContext& context, LintResult* result,
              std::vector<CudaBlock>* blocks) {
  std::string why;
  auto text = ReadFile(path, &why);
  if (!text) {
    AddUnreadable(path, why, &result->diagnostics);
    return;
  }
  ++result->files;
  const Document document = ParseDocument(path, std::move(*text));
  for (Diagnostic& finding : Lint(document, context)) {
    result->diagnostics.push_back(std::move(finding));
  }
  // Traces show code that failed; entries are proved by their own tests.
  if (document.kind != Kind::kSkill && document.kind != Kind::kPage) return;
  for (CudaBlock& block : CudaBlocksOf(document)) blocks->push_back(std::move(block));
}

void CompileAll(const std::vector<CudaBlock>& blocks, const std::string& kb_dir, Progress& progress,
                LintResult* result) {
  result->cuda_found = static_cast<int>(blocks.size());
  if (blocks.empty()) return;
  const std::unique_ptr<Toolchain> toolchain = OpenNvrtc(&result->no_toolchain);
  if (toolchain == nullptr) return;
  result->toolchain = toolchain->version();
  result->cuda_compiled = result->cuda_found;
  CompileOptions options;
  std::error_code error;  // lint makes no .kb: it only uses one that is there
  if (std::filesystem::is_directory(kb_dir, error)) options.cache_dir = kb_dir + "/cuda-blocks";
  options.progress = [&](int64_t done) {
    progress.Show("compile", done, static_cast<int64_t>(blocks.size()));
  };
  for (Diagnostic& finding : CompileCudaBlocks(*toolchain, blocks, options)) {
    result->diagnostics.push_back(std::move(finding));
  }
}

LintResult LintAll(const Paths& roots, const std::string& kb_dir, Streams& streams) {
  Progress progress(streams);
  LintResult result;
  const Paths paths = FindAll(roots, &result.diagnostics);
  const LintContext context = ContextOf(paths);
  std::vector<CudaBlock> blocks;
  int64_t done = 0;
  for (const std::string& path : paths) {
    LintFile(path, context, &result, &blocks);
    progress.Show("read", ++done, static_cast<int64_t>(paths.size()));
  }
  CompileAll(blocks, kb_dir, progress, &result);
  std::stable_sort(result.diagnostics.begin(), result.diagnostics.end(),
                   [](const Diagnostic& a, const Diagnostic& b) {
                     return a.path != b.path ? a.path < b.path : a.line < b.line;
                   });
  return result;
}

Value ResultJson(const LintResult& result) {
  return Value(Value::Map{{"files", result.files},
                          {"errors", result.Count(Severity::kError)},
                          {"warnings", result.Count(Severity::kWarning)},
                          {"notes", result.Count(Severity::kNote)},
                          {"blocks", result.Count(Severity::kBlock)},
                          {"cuda_blocks", Value(Value::Map{{"found", result.cuda_found},
                                                           {"compiled", result.cuda_compiled},
                                                           {"toolchain", result.toolchain}})},
                          {"diagnostics", DiagnosticsJson(result.diagnostics)}});
}

void Summarize(const LintResult& result, std::ostream& talk) {
  talk << result.files << " files: " << result.Count(Severity::kBlock) << " blocked, "
       << result.Count(Severity::kError) << " errors, " << result.Count(Severity::kWarning)
       << " warnings, " << result.Count(Severity::kNote) << " notes";
  if (result.cuda_compiled > 0) {
    talk << "; " << result.cuda_compiled << " cuda blocks compiled by " << result.toolchain;
  }
  talk << '\n';
  if (result.cuda_found > result.cuda_compiled) {
    talk << "note: " << result.cuda_found
         << " cuda blocks were not compiled: " << Printable(result.no_toolchain) << '\n';
  }
}

}  // namespace

int RunLint(const Args& args, Streams& streams) {
  Paths roots = args.All("PATH");
  if (roots.empty()) roots = DefaultRoots();
  if (roots.empty()) {
    throw Error("no skills, traces or nnk folder here; name what to check: kb lint PATH");
  }
  const LintResult result = LintAll(roots, FindKbDir(args), streams);
  const std::string format = args.Has("--json") ? "json" : args.Get("--format", "text");
  if (format == "json") {
    streams.out << WriteJson(ResultJson(result), 2) << '\n';
  } else if (format == "sarif") {
    streams.out << WriteSarif(result.diagnostics, kVersion);
  } else {
    for (const Diagnostic& finding : result.diagnostics) {
      streams.out << FormatDiagnostic(finding) << '\n';
    }
  }
  if (!streams.quiet) Summarize(result, streams.talk);
  const int failures = result.Count(Severity::kError) + result.Count(Severity::kBlock);
  return failures > 0 ? kNothing : kFound;
}

}  // namespace kb
