// kb tdd record: what was proved becomes an entry, if it is news. With --json a list of {case,
// candidate, status, news, id, folder, refused}.
#include <ostream>

#include "cli/run_commands.h"
#include "cli/table.h"
#include "cli/tdd_places.h"
#include "cli/tdd_prove_all.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "tdd/record.h"

namespace kb {
namespace {

// Where the candidate of an evaluation lies: a target whose files are those that were proved.
const ProofTarget* TargetOf(const Evaluation& evaluation, const std::vector<ProofTarget>& targets) {
  for (const ProofTarget& target : targets) {
    const LoadedCase of_case = LoadCase(target.case_folder);
    if (of_case.value.sha256 != evaluation.case_identity["sha256"].AsString()) continue;
    const LoadedCandidate candidate = LoadCandidate(target.candidate_folder, of_case.value);
    if (candidate.value.sha256 == evaluation.candidate_identity["sha256"].AsString())
      return &target;
  }
  return nullptr;
}

std::vector<Evaluation> OthersOf(const Evaluation& evaluation, const std::vector<Evaluation>& all) {
  std::vector<Evaluation> others;
  for (const Evaluation& other : all) {
    if (&other != &evaluation && other.case_identity == evaluation.case_identity)
      others.push_back(other);
  }
  return others;
}

Value Record(const Evaluation& evaluation, const std::vector<Evaluation>& all,
             const std::vector<ProofTarget>& targets, const Args& args) {
  Value row;
  row.Set("case", evaluation.case_identity["name"])
      .Set("candidate", evaluation.candidate_identity["id"]);
  row.Set("status", VerdictName(evaluation.verdict));
  const ProofTarget* target = TargetOf(evaluation, targets);
  if (target == nullptr) {
    return row.Set(
        "refused",
        "the case or the candidate is not here as it was proved; prove it again: kb tdd run");
  }
  const LoadedCase of_case = LoadCase(target->case_folder);
  const LoadedCandidate candidate = LoadCandidate(target->candidate_folder, of_case.value);
  RecordRequest request{&of_case.value,   &candidate.value,         &evaluation, {}, kNnkFolder,
                        args.Get("--id"), OthersOf(evaluation, all)};
  request.news = JudgeNews(of_case.value, evaluation, FindEntries(kNnkFolder, of_case.value.name),
                           args.Has("--negative"));
  row.Set("news", NewsKindName(request.news.kind)).Set("why", request.news.why);
  const Recorded recorded = RecordEntry(request);
  row.Set("id", recorded.id).Set("folder", recorded.folder);
  return row.Set("refused", recorded.refused);
}

}  // namespace

int RunTddRecord(const Args& args, Streams& streams) {
  const std::vector<ProofTarget> targets = NamedTargets(args);
  const std::vector<Evaluation> all =
      args.Has("--from")
          ? ReadResults(args.Get("--from"))
          : ProveAll(targets, NamedOptions(args), args, streams, Reuse::kUnlessFresh);
  if (args.Has("--id") && all.size() != 1)
    throw Error("--id names one entry; name one CASE and one --candidate with it");
  Value rows = Value::List{};
  int recorded = 0;
  for (const Evaluation& evaluation : all) {
    rows.Add(Record(evaluation, all, targets, args));
    recorded += rows.AsList().back()["refused"].AsString().empty();
  }
  if (args.Has("--json")) {
    streams.out << WriteJson(rows, 2) << '\n';
  } else {
    Table table({{"case / candidate"}, {"verdict"}, {"news"}, {"entry or why not"}});
    for (const Value& row : rows.AsList()) {
      const std::string& refused = row["refused"].AsString();
      table.AddRow({row["case"].ToText() + " / " + row["candidate"].ToText(),
                    row["status"].AsString(), row["news"].AsString(),
                    refused.empty() ? row["folder"].AsString() : refused});
    }
    streams.out << table.Draw();
  }
  return recorded > 0 ? kFound : kNothing;
}

}  // namespace kb
