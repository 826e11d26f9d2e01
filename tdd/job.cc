#include "tdd/job.h"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"
#include "tdd/judge.h"
#include "tdd/process.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxResultBytes = 1 << 30;

Value OptionsValue(const ProofOptions& options) {
  Value value;
  value.Set("red", options.red).Set("until", options.until);
  value.Set("sanitize", options.sanitize).Set("measure", options.measure);
  return value.Set("trials", options.trials);
}

ProofOptions OptionsFrom(const Value& value) {
  ProofOptions options;
  options.red = value["red"].AsBool(true);
  options.until = value["until"].AsString();
  options.sanitize = value["sanitize"].AsBool(true);
  options.measure = value["measure"].AsBool(true);
  options.trials = static_cast<int>(value["trials"].AsInt(3));
  return options;
}

void CopyTree(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::create_directories(fs::path(to).parent_path(), error);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::copy_symlinks, error);
  if (error) throw Error("cannot copy " + from + " to " + to + ": " + error.message());
}

std::string FolderName(const std::string& folder) {
  return fs::path(folder).lexically_normal().filename().empty()
             ? fs::path(folder).lexically_normal().parent_path().filename().string()
             : fs::path(folder).lexically_normal().filename().string();
}

// Each case is copied once, with its own candidates; a candidate from elsewhere by itself.
class JobWriter {
 public:
  JobWriter(std::string folder, std::string judges)
      : folder_(std::move(folder)), judges_(std::move(judges)) {}

  Value Add(const ProofTarget& target) {
    const std::string name = FolderName(target.case_folder);
    const std::string case_copy = "cases/" + name;
    if (!fs::exists(folder_ + "/" + case_copy)) {
      CopyTree(target.case_folder, folder_ + "/" + case_copy);
      CopyJudge(target.case_folder);
    }
    const std::string candidate =
        "candidates/" + std::to_string(count_++) + "/" + FolderName(target.candidate_folder);
    CopyTree(target.candidate_folder, folder_ + "/" + candidate);
    Value proof;
    proof.Set("case", case_copy).Set("candidate", candidate);
    if (!target.known_red.IsNull()) proof.Set("known_red", target.known_red);
    return proof;
  }

 private:
  // A judge that cannot be built here is built there, or is that proof's verdict.
  void CopyJudge(const std::string& case_folder) const {
    const LoadedCase loaded = LoadCase(case_folder);
    if (!loaded.ok()) return;
    const BuiltJudge judge = BuildJudge(loaded.value, judges_);
    if (!judge.verdict.passed()) return;
    const std::string to = folder_ + "/judges/" + FolderName(judge.path);
    std::error_code ignored;
    if (!fs::exists(to, ignored)) CopyTree(judge.path, to);
  }

  std::string folder_, judges_;
  int count_ = 0;
};

Value ReadJson(const std::string& path, std::string_view kind, int64_t max_bytes) {
  std::string why;
  const std::optional<std::string> text = ReadFile(path, &why, max_bytes);
  if (!text) throw Error("cannot read " + path + ": " + why);
  JsonLimits limits;
  limits.max_bytes = static_cast<size_t>(max_bytes);
  std::optional<Value> value = ParseJson(*text, &why, limits);
  if (!value) throw Error(path + " is no JSON: " + why);
  if ((*value)["kb"].AsString() != kind) {
    throw Error(path + " is no " + std::string(kind) +
                "; kb tdd job makes jobs, kb worker results");
  }
  return *value;
}

std::string Inside(const std::string& folder, const std::string& relative) {
  const fs::path path = fs::path(relative).lexically_normal();
  if (path.is_absolute() || path.empty() || *path.begin() == "..") {
    throw Error(folder + "/job.json: the path '" + Printable(relative) +
                "' leaves the job's folder");
  }
  return (fs::path(folder) / path).string();
}

// What the results of this job hold already.
Value::List DoneBefore(const std::string& result, const std::string& sha256) {
  if (!fs::exists(result)) return {};
  const Value earlier = ReadJson(result, "results/1", kMaxResultBytes);
  return earlier["job"].AsString() == sha256 ? earlier["evaluations"].AsList() : Value::List{};
}

// The evaluation of these files in earlier results; null if they are not there or have changed.
const Evaluation* FindSame(const std::vector<Evaluation>& earlier, const std::string& case_folder,
                           const std::string& candidate_folder) {
  const LoadedCase of_case = LoadCase(case_folder);
  const LoadedCandidate candidate = LoadCandidate(candidate_folder, of_case.value);
  for (const Evaluation& one : earlier) {
    if (one.case_identity["sha256"].AsString() == of_case.value.sha256 &&
        one.candidate_identity["sha256"].AsString() == candidate.value.sha256) {
      return &one;
    }
  }
  return nullptr;
}

// Null unless the stage, and for red that of the mutants too, passed.
Value PassedSection(const Evaluation& evaluation, const std::string& name) {
  const StageReport* stage = evaluation.Find(name);
  const StageReport* mutants = evaluation.Find("mutants");
  const bool red = name != "red" || (mutants != nullptr && mutants->verdict.passed());
  return stage != nullptr && stage->verdict.passed() && red ? stage->detail : Value();
}

}  // namespace

void WriteJob(const std::string& folder, const std::vector<ProofTarget>& targets,
              const ProofOptions& options, const std::string& judges_folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_empty(folder, error)) {
    throw Error("cannot make the job " + folder + ": " +
                (error ? error.message() : "it is not empty") + "; name a new folder");
  }
  JobWriter writer(folder, judges_folder);
  Value proofs = Value::List{};
  for (const ProofTarget& target : targets) proofs.Add(writer.Add(target));
  Value job;
  job.Set("kb", "job/1").Set("options", OptionsValue(options)).Set("proofs", proofs);
  WriteFileAtomically(folder + "/job.json", WriteJson(job, 1) + "\n");
}

void RunJob(const std::string& folder, const std::string& result, const std::string& again,
            ProofTools tools, int shard, int shards) {
  const Value job = ReadJson(folder + "/job.json", "job/1", kMaxFileBytes);
  const std::string sha256 = Sha256(WriteJson(job));
  const std::vector<Evaluation> earlier =
      again.empty() ? std::vector<Evaluation>() : ReadResults(again);
  Value::List done = DoneBefore(result, sha256);
  tools.judges_folder = folder + "/judges";
  ProofSession session(std::move(tools));
  const Value::List& proofs = job["proofs"].AsList();
  size_t mine = 0;
  for (size_t i = static_cast<size_t>(shard); i < proofs.size(); i += static_cast<size_t>(shards)) {
    if (mine++ < done.size()) continue;
    const std::string of_case = Inside(folder, proofs[i]["case"].AsString());
    const std::string candidate = Inside(folder, proofs[i]["candidate"].AsString());
    ProofOptions options = OptionsFrom(job["options"]);
    options.known_red = proofs[i]["known_red"];
    if (!again.empty()) {
      if (const Evaluation* before = FindSame(earlier, of_case, candidate)) {
        options.known_red = PassedSection(*before, "red");
        options.known_sanitize = PassedSection(*before, "sanitize");
      }
    }
    options.red = options.red && options.known_red.IsNull();
    done.push_back(ToValue(session.Prove(of_case, candidate, options)));
    Value all = Value().Set("kb", "results/1").Set("job", sha256).Set("evaluations", Value(done));
    WriteFileAtomically(result, WriteJson(all) + "\n");
  }
}

std::vector<Evaluation> ReadResults(const std::string& path) {
  const Value results = ReadJson(path, "results/1", kMaxResultBytes);
  std::vector<Evaluation> evaluations;
  for (const Value& one : results["evaluations"].AsList()) {
    std::string why;
    std::optional<Evaluation> evaluation = EvaluationFromValue(one, &why);
    if (!evaluation) {
      std::string message = path;
      message.append(": evaluation ").append(std::to_string(evaluations.size() + 1));
      throw Error(message.append(": ").append(why));
    }
    evaluations.push_back(std::move(*evaluation));
  }
  return evaluations;
}

void CarryJob(const std::string& command, const std::string& job, const std::string& result,
              double timeout_s) {
  ProcessOptions options;
  for (size_t at = 0; at < command.size();) {
    const size_t end = std::min(command.find(' ', at), command.size());
    std::string word = command.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    for (const auto& [mark, path] :
         {std::pair<std::string, const std::string&>{"{job}", job}, {"{result}", result}}) {
      const size_t found = word.find(mark);
      if (found != std::string::npos) word.replace(found, mark.size(), path);
    }
    options.argv.push_back(word);
  }
  if (options.argv.empty())
    throw Error(
        "the runner's command is empty; try: --runner 'command:ssh gpu run-job {job} {result}'");
  options.timeout_s = timeout_s;
  options.network = true;
  options.folder = fs::current_path().string();
  for (const char* name : {"PATH", "HOME", "USER", "SSH_AUTH_SOCK", "LANG"}) {
    if (const char* value = std::getenv(name))
      options.environment.push_back(std::string(name) + "=" + value);
  }
  const ProcessResult ended = RunProcess(options);
  if (!ended.started)
    throw Error("cannot start the runner's command " + options.argv[0] + ": " + ended.why);
  if (ended.timed_out)
    throw Error("the runner's command did not end in " +
                std::to_string(static_cast<int>(timeout_s)) + " s");
  if (ended.exit_code != 0 || !fs::exists(result)) {
    throw Error("the runner's command " + options.argv[0] + " ended with exit code " +
                std::to_string(ended.exit_code) +
                (fs::exists(result) ? "" : " and brought no " + result) + ": " +
                Printable(ended.talk.substr(0, 300)));
  }
}

}  // namespace kb
