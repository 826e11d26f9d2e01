// kb tdd attempt: proves a candidate and appends the attempt to a trace, so that traces are
// written by measuring. With --json {trace, attempt, status, evaluation}.
#include <ctime>
#include <filesystem>
#include <ostream>

#include "cli/run_commands.h"
#include "cli/scaffold.h"
#include "cli/tdd_places.h"
#include "cli/tdd_prove_all.h"
#include "cli/tdd_report.h"
#include "kb/document.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/trace.h"
#include "tdd/attempt.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

std::string Date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

// The case of a candidate that lies in CASE/candidates/ID; else --case says it.
std::string CaseOf(const Args& args, const std::string& candidate) {
  if (args.Has("--case")) return CaseFolder(args.Get("--case"));
  const fs::path above = fs::absolute(candidate).lexically_normal().parent_path().parent_path();
  if (fs::exists(above / "case.yaml")) return above.string();
  throw Error("cannot tell the case of " + Printable(candidate) + "; name it: --case CASE");
}

// From a file of results where --from names one, else proved now.
Evaluation Evaluated(const Args& args, Streams& streams, const std::string& of_case,
                     const Case& loaded, const Candidate& candidate) {
  if (!args.Has("--from")) {
    return ProveAll({{of_case, candidate.folder, {}}}, NamedOptions(args), args, streams,
                    Reuse::kUnlessFresh)
        .at(0);
  }
  for (Evaluation& one : ReadResults(args.Get("--from"))) {
    if (one.case_identity["sha256"].AsString() == loaded.sha256 &&
        one.candidate_identity["sha256"].AsString() == candidate.sha256) {
      return std::move(one);
    }
  }
  throw Error(args.Get("--from") + " has no evaluation of " + Printable(candidate.folder) +
              " as it is now; prove it again: kb tdd run");
}

AttemptNote NoteOf(const Args& args, const Candidate& candidate) {
  AttemptNote note{args.Get("--hypothesis"), args.Get("--parent"), args.Get("--decision"),
                   args.Get("--why"), ""};
  if (note.hypothesis.empty()) {
    throw Error("say what should get better, and why, before it is measured: --hypothesis \"...\"");
  }
  if (args.Has("--before")) {
    const std::string before = args.Get("--before") + "/" + candidate.source;
    if (!fs::is_regular_file(before))
      throw Error("there is no " + Printable(before) +
                  " to compare with; --before takes a candidate's folder");
    note.diff = DiffFiles(before, candidate.folder + "/" + candidate.source);
  }
  return note;
}

}  // namespace

int RunTddAttempt(const Args& args, Streams& streams) {
  const std::string folder = args.Get("DIR");
  const std::string case_folder = CaseOf(args, folder);
  const LoadedCase of_case = LoadCase(case_folder);
  if (!of_case.ok()) throw Error(FormatDiagnostic(of_case.diagnostics.at(0)));
  const LoadedCandidate candidate = LoadCandidate(folder, of_case.value);
  if (!candidate.ok()) throw Error(FormatDiagnostic(candidate.diagnostics.at(0)));
  const std::string path = args.Get("--trace");
  const AttemptNote note = NoteOf(args, candidate.value);
  const Evaluation evaluation =
      Evaluated(args, streams, case_folder, of_case.value, candidate.value);
  if (ExitCodeOf({evaluation}) == kCouldNot) {  // nothing was learned of the candidate
    streams.out << DrawEvaluation(evaluation, streams.columns);
    throw Error("no attempt is written to " + path + ": " + VerdictName(evaluation.verdict) +
                "; prove it where there is a GPU, or bring its results with --from");
  }
  std::string text;
  if (fs::exists(path)) {
    std::string why;
    const std::optional<std::string> old = ReadFile(path, &why);
    if (!old) throw Error("cannot read " + path + ": " + why);
    text = *old;
  } else {
    text = NewTrace(fs::path(path).stem().string(), of_case.value, evaluation, Date());
    MakeFolders(fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".");
  }
  text = AppendAttempt(text, path, candidate.value, evaluation, note);
  WriteFileAtomically(path, text);
  const std::string id = ParseTrace(ParseDocument(path, text)).attempts.back().id;
  if (args.Has("--json")) {
    Value value;
    value.Set("trace", path)
        .Set("attempt", id)
        .Set("status", StatusName(evaluation.verdict.status));
    streams.out << WriteJson(value.Set("evaluation", ToValue(evaluation)), 2) << '\n';
  } else {
    streams.out << DrawEvaluation(evaluation, streams.columns) << '\n'
                << Printable(path) << "  " << id << '\n';
  }
  return ExitCodeOf({evaluation});
}

}  // namespace kb
