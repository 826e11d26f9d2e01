#include "tdd/session.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <random>

#include "kb/document.h"
#include "kb/error.h"
#include "tdd/compile.h"
#include "tdd/green.h"
#include "tdd/judge.h"
#include "tdd/measure.h"
#include "tdd/news.h"
#include "tdd/red.h"
#include "tdd/roofline.h"
#include "tdd/sanitize.h"
#include "tdd/scratch.h"

namespace kb {
namespace {

constexpr int kCandidateProgram = 1, kBaselineProgram = 2;

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

// From the system's own randomness: no candidate can know the inputs.
uint64_t PrivateSeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

Value Findings(const Diagnostics& diagnostics) {
  Value list = Value::List{};
  for (const Diagnostic& d : diagnostics) {
    Value row;
    row.Set("severity", SeverityName(d.severity)).Set("rule", d.rule).Set("path", d.path);
    list.Add(row.Set("line", d.line).Set("message", d.message).Set("mend", d.mend));
  }
  return list;
}

const Diagnostic* FirstError(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) {
    if (d.severity >= Severity::kError) return &d;
  }
  return nullptr;
}

// "sm_90" compiles for sm_90a: the same chip with all it has.
std::string CompileArch(const std::string& arch) {
  const std::string number = arch.substr(arch.find('_') + 1);
  const bool variant = number == "90" || number == "100" || number == "103" || number == "120";
  return variant ? arch + "a" : arch;
}

Verdict PlanAll(const Case& for_case, const Candidate& candidate, std::vector<RunPlan>* plans) {
  for (const Workload& workload : for_case.check) {
    Planned planned = PlanRun(for_case, candidate, workload.axes);
    if (!planned.plan) {
      return {Status::kLaunchError, "",
              fmt::format("{}/launch.yaml, workload {}: {}", candidate.folder, workload.label,
                          planned.why)};
    }
    plans->push_back(std::move(*planned.plan));
  }
  return {};
}

}  // namespace

struct ProofSession::State {
  explicit State(ProofTools t) : tools(std::move(t)), scratch(tools.temp) {}

  Runner* GetRunner(Verdict* why) {
    if (runner == nullptr && no_runner.passed()) {
      runner = StartWorker({tools.kb, tools.driver, {}, {}}, &no_runner);
    }
    if (runner == nullptr && why != nullptr) *why = no_runner;
    return runner.get();
  }

  PeaksReply GetPeaks() {
    if (peaks) return *peaks;
    Verdict why;
    Runner* from = GetRunner(&why);
    peaks = from == nullptr ? PeaksReply{why, {}} : from->MeasurePeaks();
    return *peaks;
  }

  ProofTools tools;
  Scratch scratch;  // outlives the worker and the judges, which write there
  std::unique_ptr<Runner> runner;
  Verdict no_runner;
  std::optional<PeaksReply> peaks;
};

class ProofSession::Proof {
 public:
  Proof(State& session, const std::string& case_folder, const std::string& candidate_folder,
        const ProofOptions& options)
      : session_(session),
        tools_(session.tools),
        options_(options),
        case_(LoadCase(case_folder)),
        candidate_(LoadCandidate(candidate_folder, case_.value)) {}

  Evaluation Run() {
    evaluation_.created = Now();
    runner_ = session_.GetRunner(&no_runner_);
    Identify();
    static constexpr std::pair<const char*, StageReport (Proof::*)()> kStages[] = {
        {"check", &Proof::Check},     {"compile", &Proof::Compile},
        {"red", &Proof::Red},         {"green", &Proof::Green},
        {"mutants", &Proof::Mutants}, {"sanitize", &Proof::Sanitize},
        {"measure", &Proof::Measure}, {"plausible", &Proof::Plausible},
        {"news", &Proof::News}};
    for (const auto& [name, stage] : kStages) {
      if (!Do(name, stage) || options_.until == name) break;
    }
    if (runner_ != nullptr) {
      runner_->Unload(kCandidateProgram);
      runner_->Unload(kBaselineProgram);
    }
    return std::move(evaluation_);
  }

 private:
  // Whether the next stage may follow. A sanitizer that is missing or not wanted ends nothing, but
  // the stage's own line says SKIPPED, and so does an entry made of it.
  bool Do(const char* name, StageReport (Proof::*stage)()) {
    if (tools_.started) tools_.started(name);
    const auto start = std::chrono::steady_clock::now();
    StageReport report;
    try {
      report = (this->*stage)();
    } catch (const Error& error) {
      report.verdict = {Status::kInfraError, "", error.what()};
    }
    report.name = name;
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (tools_.ended) tools_.ended(report);
    const Verdict verdict = report.verdict;
    evaluation_.stages.push_back(std::move(report));
    const bool goes_on = verdict.passed() || (verdict.status == Status::kSkipped &&
                                              (evaluation_.stages.back().name == "sanitize" ||
                                               evaluation_.stages.back().name == "measure"));
    if (!verdict.passed() && !goes_on) {
      evaluation_.verdict = verdict;
      evaluation_.stage = name;
    }
    return goes_on;
  }

  void Identify() {
    arch_ = runner_ != nullptr ? CompileArch(runner_->environment().arch) : tools_.arch;
    evaluation_.case_identity.Set("name", case_.value.name).Set("sha256", case_.value.sha256);
    const Candidate& candidate = candidate_.value;
    Value flags = Value::List{};
    for (const std::string& flag : candidate.flags) flags.Add(flag);
    Value& identity = evaluation_.candidate_identity;
    identity.Set("id", candidate.id)
        .Set("kind", candidate.kind == CandidateKind::kHost ? "host" : "device");
    identity.Set("arch", arch_)
        .Set("sha256", candidate.sha256)
        .Set("files", Value::List{Value(candidate.source)});
    identity.Set("flags", flags);
    evaluation_.environment =
        runner_ != nullptr ? runner_->environment().ToValue() : Value(Value::Map{});
    if (tools_.toolchain != nullptr)
      evaluation_.environment.Set("toolchain", tools_.toolchain->version());
  }

  StageReport Check() {
    StageReport report;
    Diagnostics all = case_.diagnostics;
    for (const Diagnostic& d : candidate_.diagnostics) all.push_back(d);
    if (case_.ok() && candidate_.ok()) {
      for (const Diagnostic& d : CheatLint(case_.value, candidate_.value)) all.push_back(d);
    }
    report.detail.Set("findings", Findings(all));
    if (const Diagnostic* error = FirstError(all)) {
      const bool cheat = case_.ok() && candidate_.ok();
      report.verdict = {cheat ? Status::kRewardHack : Status::kInvalidCase,
                        cheat ? error->rule : "", FormatDiagnostic(*error)};
      return report;
    }
    report.verdict = PlanAll(case_.value, candidate_.value, &plans_);
    return report;
  }

  StageReport Compile() {
    StageReport report;
    if (tools_.toolchain == nullptr) {
      report.verdict = {Status::kSkipped, "no toolchain", tools_.no_toolchain};
      return report;
    }
    const std::string& scope =
        candidate_.value.arch.empty() ? case_.value.arch : candidate_.value.arch;
    if (!scope.empty() && !MatchesArch(scope, arch_)) {
      report.verdict = {Status::kSkipped, "arch",
                        fmt::format("{} is for {}, this is {}", candidate_.value.id, scope, arch_)};
      return report;
    }
    Compiled compiled = CompileCandidate(case_.value, candidate_.value, Request());
    report.verdict = compiled.verdict;
    report.detail = ToValue(compiled);
    binary_ = std::move(compiled.binary);
    return report;
  }

  StageReport Red() {
    StageReport report;
    const BuiltJudge judge = BuildJudge(case_.value, tools_.judges_folder);
    judge_ = judge.path;
    report.verdict = judge.verdict;
    if (!judge.verdict.passed()) return report;
    if (!options_.red) {
      report.detail = options_.known_red;
      if (!report.detail.Has("from"))
        report.detail.Set("from", "earlier evidence of the same case and candidate");
      return report;
    }
    red_ = ProveRed(case_.value, JudgedTests(judge_, case_.value, Temp()), PrivateSeed());
    report.verdict = red_.verdict;
    report.detail = ToValue(red_);
    return report;
  }

  StageReport Green() {
    StageReport report;
    report.verdict = runner_ == nullptr ? no_runner_ : runner_->Load(Candidate_());
    if (!report.verdict.passed()) return report;
    const GreenOptions options{options_.trials, PrivateSeed(), 120, Temp()};
    return ProveGreen(case_.value, judge_,
                      {runner_, kCandidateProgram, &case_.value, &plans_, 1, 10}, options);
  }

  StageReport Mutants() {
    StageReport report;
    if (!options_.red || candidate_.value.kind == CandidateKind::kHost) {
      return report;  // a host candidate's source may be a library call: only outputs are spoilt
    }
    MutantOptions options;
    options.toolchain = tools_.toolchain;
    options.arch = arch_;
    options.binary = binary_;
    options.plans = plans_;
    options.start_runner = [this] {
      Verdict why;
      return StartWorker({tools_.kb, tools_.driver, {}, {}}, &why);
    };
    options.declared = ReadEquivalents(candidate_.value.folder).entries;
    options.workers = tools_.workers;
    options.seed = PrivateSeed();
    red_ = ProveMutants(case_.value, candidate_.value, JudgedTests(judge_, case_.value, Temp()),
                        options, std::move(red_));
    report.verdict = red_.verdict;
    for (StageReport& stage : evaluation_.stages) {
      if (stage.name == "red") stage.detail = ToValue(red_);
    }
    return report;
  }

  StageReport Sanitize() {
    StageReport report;
    if (!options_.known_sanitize.IsNull()) {
      report.detail = options_.known_sanitize;
      report.detail.Set("from", "earlier evidence of the same case and candidate");
      return report;
    }
    if (!options_.sanitize) {
      report.verdict = {Status::kSkipped, "not asked",
                        "left out by --no-sanitize; an entry made of it says so"};
      return report;
    }
    SanitizeOptions options;
    options.tool = tools_.sanitizer;
    options.start = [this](const std::vector<std::string>& prefix,
                           const std::vector<std::string>& environment, Verdict* why) {
      return StartWorker({tools_.kb, tools_.driver, prefix, environment}, why);
    };
    options.seed = PrivateSeed();
    options.temp = Temp();
    return ProveSanitized(case_.value, judge_, Candidate_(), plans_, *tools_.toolchain, arch_,
                          options);
  }

  StageReport Measure() {
    StageReport report;
    if (!options_.measure || case_.value.time.empty()) {
      report.verdict = {Status::kSkipped, "not asked",
                        "left out by --no-measure; no entry can be made of it"};
      return report;
    }
    report.verdict = LoadBaseline();
    if (!report.verdict.passed()) return report;
    Verdict why;
    const std::unique_ptr<JudgeSession> judge =
        StartJudge(judge_, case_.value, PrivateSeed(), Temp(), &why);
    if (judge == nullptr) {
      report.verdict = why;
      return report;
    }
    const PeaksReply peaks = session_.GetPeaks();
    MeasureOptions options;
    options.seed = PrivateSeed();
    options.temp = Temp();
    if (runner_->environment().emulated)
      options.energy_s = 0;  // its clocks are those of a busy CPU
    const bool same = baseline_ == nullptr;
    Measured measured = ProveMeasure(
        case_.value,
        {same ? kCandidateProgram : kBaselineProgram, same ? &candidate_.value : &baseline_->value},
        {kCandidateProgram, &candidate_.value}, *runner_, *judge,
        peaks.verdict.passed() ? std::optional(peaks.peaks) : std::nullopt, options);
    measurements_ = std::move(measured.measurements);
    return std::move(measured.report);
  }

  // Compiles and loads the baseline, and sees that it is right, unless it is the candidate itself.
  Verdict LoadBaseline() {
    auto baseline = std::make_unique<LoadedCandidate>(
        LoadCandidate(case_.value.folder + "/candidates/" + case_.value.baseline, case_.value));
    if (!baseline->ok()) {
      const Diagnostic* error = FirstError(baseline->diagnostics);
      return {Status::kInvalidCase, "",
              "the baseline: " + (error == nullptr ? "" : FormatDiagnostic(*error))};
    }
    if (baseline->value.sha256 == candidate_.value.sha256) return {};
    CompileRequestOf request = Request();
    Compiled compiled = CompileCandidate(case_.value, baseline->value, request);
    if (!compiled.verdict.passed()) return Blame(compiled.verdict);
    const bool host = baseline->value.kind == CandidateKind::kHost;
    const Verdict loaded = runner_->Load({kBaselineProgram, host, compiled.binary});
    if (!loaded.passed()) return Blame(loaded);
    std::vector<RunPlan> plans;
    if (const Verdict planned = PlanAll(case_.value, baseline->value, &plans); !planned.passed())
      return Blame(planned);
    const StageReport green =
        ProveGreen(case_.value, judge_, {runner_, kBaselineProgram, &case_.value, &plans, 1, 10},
                   {1, PrivateSeed(), 120, Temp()});
    if (!green.verdict.passed()) return Blame(green.verdict);
    baseline_ = std::move(baseline);
    return {};
  }

  Verdict Blame(const Verdict& verdict) const {
    return {Status::kInvalidCase, "baseline",
            fmt::format("the baseline {}: {} {}", case_.value.baseline, VerdictName(verdict),
                        verdict.message)};
  }

  StageReport Plausible() {
    StageReport report;
    if (measurements_.empty()) return report;
    const PeaksReply peaks = session_.GetPeaks();
    report.verdict = peaks.verdict;
    if (!peaks.verdict.passed()) return report;
    return ProvePlausible(case_.value, measurements_, peaks.peaks, runner_->environment());
  }

  StageReport News() {
    return NewsReport(
        JudgeNews(case_.value, evaluation_, FindEntries(tools_.nnk_folder, case_.value.name)));
  }

  Program Candidate_() const {
    return {kCandidateProgram, candidate_.value.kind == CandidateKind::kHost, binary_};
  }
  CompileRequestOf Request() const {
    return {arch_, tools_.toolchain.get(), tools_.compile_here ? "" : tools_.kb, Temp()};
  }
  std::string Temp() const { return session_.scratch.path(); }

  State& session_;
  const ProofTools& tools_;
  const ProofOptions& options_;
  LoadedCase case_;
  LoadedCandidate candidate_;
  Evaluation evaluation_;
  Runner* runner_ = nullptr;
  Verdict no_runner_;
  std::string arch_, binary_, judge_;
  std::vector<RunPlan> plans_;  // of the check workloads
  RedReport red_;
  std::unique_ptr<LoadedCandidate> baseline_;  // null: the candidate is the baseline
  std::vector<Measurement> measurements_;
};

ProofSession::ProofSession(ProofTools tools) : state_(std::make_unique<State>(std::move(tools))) {}
ProofSession::~ProofSession() = default;

Evaluation ProofSession::Prove(const std::string& case_folder, const std::string& candidate_folder,
                               const ProofOptions& options) {
  return Proof(*state_, case_folder, candidate_folder, options).Run();
}

Runner* ProofSession::runner(Verdict* why) { return state_->GetRunner(why); }
PeaksReply ProofSession::peaks() { return state_->GetPeaks(); }

}  // namespace kb
