// kb tdd run: all stages of the proof for the named candidates. With --json a list of evaluations
// (evaluation/1), one a candidate; stages are told on stderr as they end.
#include <ostream>

#include "cli/run_commands.h"
#include "cli/tdd_prove_all.h"
#include "cli/tdd_report.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {

int RunTddRun(const Args& args, Streams& streams) {
  const std::vector<Evaluation> all =
      ProveAll(NamedTargets(args), NamedOptions(args), args, streams, Reuse::kUnlessFresh);
  Value list = Value::List{};
  for (const Evaluation& one : all) list.Add(ToValue(one));
  if (args.Has("--out")) {
    WriteFileAtomically(args.Get("--out"),
                        WriteJson(Value().Set("kb", "results/1").Set("evaluations", list)) + "\n");
  }
  if (args.Has("--json")) {
    streams.out << WriteJson(list, 2) << '\n';
  } else if (all.size() == 1) {
    streams.out << DrawEvaluation(all[0], streams.columns);
  } else {
    streams.out << DrawEvaluations(all, streams.columns);
  }
  return ExitCodeOf(all);
}

int RunTddJob(const Args& args, Streams& streams) {
  const std::vector<ProofTarget> targets = NamedTargets(args);
  const std::string folder = args.Get("--to");
  WriteJob(folder, targets, NamedOptions(args), FindKbDir(args) + "/judges");
  if (args.Has("--json")) {
    streams.out
        << WriteJson(
               Value().Set("path", folder).Set("proofs", static_cast<int64_t>(targets.size())), 2)
        << '\n';
  } else {
    streams.out << Printable(folder) << '\n';
  }
  if (!streams.quiet) {
    streams.talk << targets.size() << " proofs; on a machine with a GPU: kb worker --job "
                 << Printable(folder)
                 << " --result results.json; back here: kb tdd record --from results.json\n";
  }
  return kFound;
}

}  // namespace kb
