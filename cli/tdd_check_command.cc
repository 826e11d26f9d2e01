// kb tdd check: is the case well-formed, is the candidate safe, do they compile? Runs nothing of
// theirs. With --json {cases: [{case, judge, findings}], candidates: [evaluation/1...]}.
#include <ostream>

#include "cli/run_commands.h"
#include "cli/tdd_places.h"
#include "cli/tdd_prove_all.h"
#include "cli/tdd_report.h"
#include "kb/file.h"
#include "kb/json.h"
#include "tdd/judge.h"

namespace kb {
namespace {

struct CheckedCase {
  std::string folder;
  Diagnostics findings;
  Verdict judge;  // whether reference.cc and test.cc compile
};

CheckedCase CheckCase(const std::string& folder, const std::string& judges) {
  const LoadedCase loaded = LoadCase(folder);
  CheckedCase checked{folder, loaded.diagnostics, {}};
  if (loaded.ok()) {
    checked.judge = BuildJudge(loaded.value, judges).verdict;
  } else {
    checked.judge = {Status::kInvalidCase, "", "case.yaml breaks a rule"};
  }
  return checked;
}

Value ToValue(const CheckedCase& checked) {
  Value findings = Value::List{};
  for (const Diagnostic& d : checked.findings) findings.Add(FormatDiagnostic(d));
  Value value;
  value.Set("case", checked.folder)
      .Set("judge", VerdictName(checked.judge))
      .Set("message", checked.judge.message);
  return value.Set("findings", findings);
}

void Print(const CheckedCase& checked, Streams& streams) {
  for (const Diagnostic& d : checked.findings) streams.out << FormatDiagnostic(d) << '\n';
  if (checked.judge.passed()) return;
  streams.out << Printable(checked.folder) << ": " << VerdictName(checked.judge) << ": "
              << Printable(checked.judge.message) << '\n';
}

void PrintFindings(const Evaluation& evaluation, Streams& streams) {
  const StageReport* check = evaluation.Find("check");
  if (check == nullptr) return;
  for (const Value& f : check->detail["findings"].AsList()) {
    Diagnostic d{Severity::kWarning,      f["rule"].AsString(),
                 f["path"].AsString(),    static_cast<int>(f["line"].AsInt()),
                 f["message"].AsString(), f["mend"].AsString()};
    if (f["severity"].AsString() == "error") d.severity = Severity::kError;
    streams.out << FormatDiagnostic(d) << '\n';
  }
}

}  // namespace

int RunTddCheck(const Args& args, Streams& streams) {
  const std::vector<ProofTarget> targets = NamedTargets(args);
  const std::string judges = FindKbDir(args) + "/judges";
  std::vector<CheckedCase> cases;
  for (const ProofTarget& target : targets) {
    if (cases.empty() || cases.back().folder != target.case_folder)
      cases.push_back(CheckCase(target.case_folder, judges));
  }
  ProofOptions options;
  options.until = "compile";
  const std::vector<Evaluation> all = ProveAll(targets, options, args, streams, Reuse::kNever);
  Value case_list = Value::List{}, candidate_list = Value::List{};
  bool sound = true;
  for (const CheckedCase& one : cases) {
    sound = sound && (one.judge.passed() || one.judge.status == Status::kSkipped);
    case_list.Add(ToValue(one));
  }
  for (const Evaluation& one : all) candidate_list.Add(ToValue(one));
  if (args.Has("--json")) {
    streams.out << WriteJson(Value().Set("cases", case_list).Set("candidates", candidate_list), 2)
                << '\n';
  } else {
    for (const CheckedCase& one : cases) Print(one, streams);
    for (const Evaluation& one : all) PrintFindings(one, streams);
    streams.out << DrawEvaluations(all, streams.columns);
  }
  return sound ? ExitCodeOf(all) : kNothing;
}

}  // namespace kb
