// kb tdd red: which wrong kernels a case's tests catch. With --json a list of {case, candidate,
// status, red: the section "red" of an evaluation}.
#include <ostream>

#include "cli/red_matrix.h"
#include "cli/run_commands.h"
#include "cli/tdd_prove_all.h"
#include "cli/tdd_report.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {

int RunTddRed(const Args& args, Streams& streams) {
  ProofOptions options;
  options.until = "mutants";
  options.trials = 1;
  const std::vector<Evaluation> all =
      ProveAll(NamedTargets(args), options, args, streams, Reuse::kNever);
  Value list = Value::List{};
  for (const Evaluation& one : all) {
    const StageReport* red = one.Find("red");
    Value row;
    row.Set("case", one.case_identity["name"]).Set("candidate", one.candidate_identity["id"]);
    row.Set("status", VerdictName(one.verdict)).Set("red", red == nullptr ? Value() : red->detail);
    list.Add(row);
    if (args.Has("--json")) continue;
    streams.out << row["case"].AsString() << " / " << Printable(row["candidate"].AsString()) << ": "
                << VerdictName(one.verdict) << "  " << Printable(one.verdict.message) << "\n\n";
    if (red != nullptr) streams.out << DrawKillMatrix(red->detail, streams.columns) << '\n';
  }
  if (args.Has("--json")) streams.out << WriteJson(list, 2) << '\n';
  return ExitCodeOf(all);
}

}  // namespace kb
