// kb tdd prove: entries proved again. Evidence is added to each and its state brought up to date.
// With --json a list of {id, status, state, why, before, now}: the last two are the ratio and its
// interval, of the newest evidence before and of this one.
#include <fmt/format.h>

#include <ostream>

#include "cli/run_commands.h"
#include "cli/table.h"
#include "cli/tdd_places.h"
#include "cli/tdd_prove_all.h"
#include "cli/tdd_report.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "tdd/record.h"

namespace kb {
namespace {

struct EntryProof {
  std::string folder;
  KnownEntry entry;
  ProofTarget target;
  std::string case_sha256, candidate_sha256;  // as they are now
};

// Red is not proved again while case and candidate are those of the newest evidence.
Value KnownRed(const EntryProof& proof) {
  const std::vector<EvidenceFile>& files = proof.entry.evidence;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const Value& evidence = file->value;
    if (evidence["case"]["sha256"].AsString() == proof.case_sha256 &&
        evidence["candidate"]["sha256"].AsString() == proof.candidate_sha256 &&
        evidence["red"].IsMap()) {
      return evidence["red"];
    }
  }
  return {};
}

bool IsOf(const Evaluation& evaluation, const EntryProof& proof) {
  return evaluation.case_identity["sha256"].AsString() == proof.case_sha256 &&
         evaluation.candidate_identity["sha256"].AsString() == proof.candidate_sha256;
}

EntryProof ProofOf(const std::string& folder, bool red) {
  const std::optional<KnownEntry> entry = ReadEntry(folder);
  if (!entry)
    throw Error(Printable(folder) + "/NNK.md cannot be read as an entry; kb lint says why");
  const std::string of_case = CaseFolder(entry->front_matter["case"]["name"].AsString());
  EntryProof proof{folder, *entry, {of_case, folder + "/candidate", {}}, "", ""};
  const LoadedCase loaded = LoadCase(of_case);
  proof.case_sha256 = loaded.value.sha256;
  proof.candidate_sha256 = LoadCandidate(proof.target.candidate_folder, loaded.value).value.sha256;
  if (!red) proof.target.known_red = KnownRed(proof);
  return proof;
}

// {"ratio", "ci95", "workload"} of the first cold measurement, or null.
Value RatioOf(const Value& measure) {
  for (const Value& row : measure.AsList()) {
    if (row["cold_l2"].AsBool()) {
      return Value()
          .Set("ratio", row["ratio"]["median"])
          .Set("ci95", row["ratio"]["ci95"])
          .Set("workload", row["workload"]);
    }
  }
  return {};
}

std::string Words(const Value& ratio) {
  if (ratio.IsNull() || ratio["ci95"].AsList().size() != 2) return "";
  return fmt::format("{:.4f} [{:.4f}, {:.4f}]", ratio["ratio"].AsDouble(),
                     ratio["ci95"].AsList()[0].AsDouble(), ratio["ci95"].AsList()[1].AsDouble());
}

bool Overlap(const Value& a, const Value& b) {
  const Value::List &x = a["ci95"].AsList(), &y = b["ci95"].AsList();
  return x.size() == 2 && y.size() == 2 && x[0].AsDouble() <= y[1].AsDouble() &&
         y[0].AsDouble() <= x[1].AsDouble();
}

Value Append(const EntryProof& proof, const Evaluation& evaluation) {
  Value row;
  row.Set("id", proof.entry.id)
      .Set("status", VerdictName(evaluation.verdict))
      .Set("message", evaluation.verdict.message);
  row.Set("before", proof.entry.evidence.empty()
                        ? Value()
                        : RatioOf(proof.entry.evidence.back().value["measure"]));
  const StageReport* measure = evaluation.Find("measure");
  row.Set("now", measure == nullptr ? Value() : RatioOf(measure->detail));
  const Recorded recorded = AppendEvidence(proof.folder, evaluation);
  row.Set("refused", recorded.refused);
  const std::optional<KnownEntry> after = ReadEntry(proof.folder);
  row.Set("state", after ? after->front_matter["state"].AsString() : "unreadable");
  return row;
}

std::vector<EntryProof> Named(const Args& args) {
  std::vector<std::string> folders;
  for (const std::string& word : args.All("ENTRY")) folders.push_back(EntryFolder(word));
  if (folders.empty() && !args.Has("--all"))
    throw Error("name entries, e.g. kb tdd prove nnk/ID, or take --all");
  if (folders.empty()) folders = AllEntryFolders();
  if (folders.empty()) throw Error("there is no entry in nnk; kb tdd record makes them");
  const Shard shard = ParseShard(args.Get("--shard", "0/1"));
  std::vector<EntryProof> proofs;
  for (size_t i = static_cast<size_t>(shard.index); i < folders.size();
       i += static_cast<size_t>(shard.count)) {
    proofs.push_back(ProofOf(folders[i], args.Has("--red")));
  }
  return proofs;
}

void Print(const Value& rows, Streams& streams) {
  Table table({{"entry"}, {"verdict"}, {"state"}, {"ratio before"}, {"ratio now"}, {"overlap"}});
  int overlaps = 0;
  for (const Value& row : rows.AsList()) {
    const bool overlap = Overlap(row["before"], row["now"]);
    overlaps += overlap;
    table.AddRow({row["id"].AsString(), row["status"].AsString(), row["state"].AsString(),
                  Words(row["before"]), Words(row["now"]), overlap ? "yes" : "no"});
  }
  streams.out << table.Draw() << overlaps << " of " << rows.AsList().size()
              << " intervals overlap\n";
  for (const Value& row : rows.AsList()) {
    const std::string& why =
        row["refused"].AsString().empty() ? row["message"].AsString() : row["refused"].AsString();
    if (!why.empty()) streams.out << row["id"].AsString() << ": " << Printable(why) << '\n';
  }
}

}  // namespace

int RunTddProve(const Args& args, Streams& streams) {
  const std::vector<EntryProof> proofs = Named(args);
  std::vector<ProofTarget> targets;
  for (const EntryProof& proof : proofs) targets.push_back(proof.target);
  const std::vector<Evaluation> all =
      args.Has("--from") ? ReadResults(args.Get("--from"))
                         : ProveAll(targets, NamedOptions(args), args, streams, Reuse::kNever);
  Value rows = Value::List{};
  for (const EntryProof& proof : proofs) {
    for (const Evaluation& evaluation : all) {
      if (IsOf(evaluation, proof)) rows.Add(Append(proof, evaluation));
    }
  }
  if (rows.AsList().empty()) {
    throw Error("nothing of these entries is in " + Printable(args.Get("--from")) +
                ": their cases or candidates have changed since");
  }
  if (args.Has("--json")) {
    streams.out << WriteJson(rows, 2) << '\n';
  } else {
    Print(rows, streams);
  }
  return ExitCodeOf(all);
}

}  // namespace kb
