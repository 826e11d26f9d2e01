#include "cli/tdd_prove_all.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>

#include "cli/tdd_places.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"
#include "tdd/scratch.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

// What was proved before, by what went into it. Only what passed: a failure may have been chance.
class EvaluationCache {
 public:
  explicit EvaluationCache(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<Evaluation> Get(const std::string& key) const {
    const std::optional<std::string> text = ReadFile(Path(key));
    if (!text) return std::nullopt;
    const std::optional<Value> value = ParseJson(*text);
    return value ? EvaluationFromValue(*value, nullptr) : std::nullopt;
  }

  void Put(const std::string& key, const Evaluation& evaluation) const {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (!error) WriteFileAtomically(Path(key), WriteJson(ToValue(evaluation)) + "\n");
  }

 private:
  [[nodiscard]] std::string Path(const std::string& key) const {
    return folder_ + "/" + key + ".json";
  }
  std::string folder_;
};

std::string KeyOf(const ProofTarget& target, const ProofOptions& options, const ProofTools& tools,
                  const Environment* environment) {
  const LoadedCase of_case = LoadCase(target.case_folder);
  if (!of_case.ok()) return "";
  const LoadedCandidate candidate = LoadCandidate(target.candidate_folder, of_case.value);
  if (!candidate.ok() || environment == nullptr || tools.toolchain == nullptr) return "";
  return Sha256(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", kVersion, of_case.value.sha256,
                            candidate.value.sha256, candidate.value.id, tools.toolchain->version(),
                            environment->gpu, environment->driver, options.red, options.sanitize,
                            options.measure, options.trials));
}

std::vector<Evaluation> ProveHere(const std::vector<ProofTarget>& targets,
                                  const ProofOptions& options, const Args& args, Streams& streams,
                                  Reuse reuse) {
  const Workshop workshop(args, streams);
  const ProofTools tools = workshop.tools();
  ProofSession session(tools);
  const EvaluationCache cache(FindKbDir(args) + "/evaluations");
  Verdict why;
  const Runner* runner = session.runner(&why);
  std::vector<Evaluation> all;
  for (const ProofTarget& target : targets) {
    if (!streams.quiet) {
      streams.talk << fmt::format("{}[{}/{}] {} {}\n", all.empty() ? "" : "\n", all.size() + 1,
                                  targets.size(), Printable(target.case_folder),
                                  Printable(target.candidate_folder));
    }
    const std::string key =
        KeyOf(target, options, tools, runner == nullptr ? nullptr : &runner->environment());
    std::optional<Evaluation> known = key.empty() || reuse == Reuse::kNever || args.Has("--fresh")
                                          ? std::nullopt
                                          : cache.Get(key);
    if (known && !streams.quiet)
      streams.talk << "proved before with the same files; --fresh proves again\n";
    ProofOptions own = options;
    own.known_red = target.known_red;
    own.red = options.red && target.known_red.IsNull();
    if (!known) {
      known = session.Prove(target.case_folder, target.candidate_folder, own);
      if (!key.empty() && known->verdict.passed()) cache.Put(key, *known);
    }
    all.push_back(std::move(*known));
  }
  return all;
}

std::vector<Evaluation> ProveThere(const std::string& command,
                                   const std::vector<ProofTarget>& targets,
                                   const ProofOptions& options, const Args& args) {
  const Scratch scratch(fs::temp_directory_path().string());
  const std::string job = scratch.path() + "/job", result = scratch.path() + "/result.json";
  WriteJob(job, targets, options, FindKbDir(args) + "/judges");
  CarryJob(command, job, result, args.GetInt("--timeout", 3600));
  return ReadResults(result);
}

}  // namespace

std::vector<ProofTarget> NamedTargets(const Args& args) {
  std::vector<std::string> cases;
  for (const std::string& word : args.All("CASE")) cases.push_back(CaseFolder(word));
  if (cases.empty()) cases = AllCaseFolders();
  if (cases.empty()) throw Error("there is no case in tdd/cases; start one: kb tdd new NAME");
  std::vector<ProofTarget> targets;
  for (const std::string& folder : cases) {
    std::vector<std::string> candidates;
    for (const std::string& word : args.All("--candidate"))
      candidates.push_back(CandidateFolder(folder, word));
    if (candidates.empty()) candidates = AllCandidateFolders(folder);
    for (std::string& candidate : candidates) targets.push_back({folder, std::move(candidate), {}});
  }
  const Shard shard = ParseShard(args.Get("--shard", "0/1"));
  std::vector<ProofTarget> mine;
  for (size_t i = static_cast<size_t>(shard.index); i < targets.size();
       i += static_cast<size_t>(shard.count)) {
    mine.push_back(targets[i]);
  }
  return mine;
}

ProofOptions NamedOptions(const Args& args) {
  ProofOptions options;
  options.sanitize = !args.Has("--no-sanitize");
  options.measure = !args.Has("--no-measure");
  options.trials = args.GetInt("--trials", options.trials);
  return options;
}

std::vector<Evaluation> ProveAll(const std::vector<ProofTarget>& targets,
                                 const ProofOptions& options, const Args& args, Streams& streams,
                                 Reuse reuse) {
  const std::string runner = args.Get("--runner", "local");
  constexpr std::string_view kCommand = "command:";
  if (runner == "local") return ProveHere(targets, options, args, streams, reuse);
  if (runner.starts_with(kCommand)) {
    return ProveThere(runner.substr(kCommand.size()), targets, options, args);
  }
  throw Error("--runner takes local or command:WORDS with {job} and {result}, not '" +
              Printable(runner) + "'");
}

}  // namespace kb
