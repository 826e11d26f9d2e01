// What an entry must keep so that its claim can be run again.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kb/entry_state.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/lint_internal.h"
#include "kb/nnk.h"
#include "kb/sha256.h"

namespace kb {
namespace {

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

// One sentence: no end of a sentence but at the end. "1.9" and "e.g. " are no ends.
bool IsOneSentence(std::string_view text) {
  text = Trim(text);
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] == '\n' && text[i + 1] == '\n') return false;
    const bool end = text[i] == '.' || text[i] == '!' || text[i] == '?';
    const bool capital = text[i + 2] >= 'A' && text[i + 2] <= 'Z';
    if (end && (text[i + 1] == ' ' || text[i + 1] == '\n') && capital) return false;
  }
  return !text.empty();
}

// A number of its own: not that of "H200", "fp16" or "sm_90".
bool HasNumber(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    if (IsDigit(text[i]) && !IsAlnum(before) && before != '_') return true;
  }
  return false;
}

// Equal, whether a number was written as 12 or as 12.0.
bool SameNumbers(const Value& a, const Value& b) {
  if (a.IsNumber() && b.IsNumber()) return a.AsDouble() == b.AsDouble();
  if (!a.IsList() || !b.IsList() || a.AsList().size() != b.AsList().size()) return a == b;
  for (size_t i = 0; i < a.AsList().size(); ++i) {
    if (!SameNumbers(a.AsList()[i], b.AsList()[i])) return false;
  }
  return true;
}

class NnkCheck {
 public:
  NnkCheck(const LintSource& source, LintReport& report)
      : document_(source.document),
        front_(document_.front_matter),
        entry_(ParseNnkEntry(document_)),
        report_(report) {}

  void Run() {
    CheckFields();
    CheckId();
    CheckClaim();
    CheckCase();
    CheckBest();
    CheckRed();
    CheckHashes(front_, "", 0);
    CheckFolders();
  }

 private:
  void Add(const char* rule, std::string_view key, std::string message) {
    report_.Add(rule, KeyLine(document_, key), std::move(message));
  }

  void CheckFields() {
    static constexpr std::string_view kRequired[] = {"kb",    "id",        "title", "claim",
                                                     "scope", "not_when",  "case",  "candidate",
                                                     "state", "provenance"};
    for (std::string_view key : kRequired) {
      const Value& value = front_[key];
      const bool empty = value.IsNull() || (value.IsString() && Trim(value.AsString()).empty()) ||
                         (value.IsMap() && value.AsMap().empty()) ||
                         (value.IsList() && value.AsList().empty());
      if (empty) Add("nnk-field", key, "the entry has no " + Quoted(key));
    }
    const std::string version = front_["kb"].ToText();
    if (!version.empty() && version != "nnk/1") {
      Add("nnk-version", "kb", "kb is " + Quoted(version) + ", not nnk/1");
    }
    if (front_.Has("scope") && !front_["scope"].IsMap()) {
      Add("nnk-scope", "scope", std::string("scope is of type ") + front_["scope"].TypeName());
    }
    const std::string arch = front_["scope"]["arch"].ToText();
    const std::string cuda = front_["scope"]["cuda"].ToText();
    if (!arch.empty() && !IsArchConstraint(arch)) {
      Add("nnk-scope", "scope", "scope.arch is " + Quoted(arch) + ", not a constraint");
    }
    if (!cuda.empty() && !IsCudaConstraint(cuda)) {
      Add("nnk-scope", "scope", "scope.cuda is " + Quoted(cuda) + ", not a constraint");
    }
    const std::string state = front_["state"].ToText();
    if (!state.empty() && !IsNnkState(state)) {
      Add("nnk-state", "state",
          "state is " + Quoted(state) + ", not proved, replicated, stale or refuted");
    }
  }

  void CheckId() {
    const std::string id = front_["id"].ToText();
    const std::string_view folder = BaseName(DirName(document_.path));
    if (id.empty()) return;
    const bool known = !folder.empty() && folder != ".";
    if (!IsSafeName(id) || (known && folder != id)) {
      Add("nnk-id", "id", "the id " + Quoted(id) + " is not that of the folder " + Quoted(folder));
    }
  }

  void CheckClaim() {
    const std::string claim = front_["claim"].ToText();
    if (claim.empty()) return;
    if (!IsOneSentence(claim)) Add("nnk-claim", "claim", "the claim is not one sentence");
    if (!HasNumber(claim)) {
      Add("nnk-claim", "claim", "the claim has no number");
    }
  }

  void CheckCase() {
    const Value& value = front_["case"];
    const std::string name = value.IsMap() ? value["name"].ToText() : value.ToText();
    if (value.IsNull()) return;
    if (!IsSafeName(name)) {
      Add("nnk-case", "case", "the case name " + Quoted(name) + " is no safe folder name");
    }
    if (!value["sha256"].IsString()) Add("nnk-sha256", "case", "the case has no SHA-256");
  }

  void CheckBest() {
    const Value& best = front_["best"];
    const bool stands = entry_.state == "proved" || entry_.state == "replicated";
    if (best.IsNull() && !stands) return;
    for (std::string_view key : {"gpu", "median_us", "speedup", "ci95"}) {
      if (best[key].IsNull()) Add("nnk-best", "best", "best has no " + Quoted(key));
    }
    if (entry_.median_us && !(*entry_.median_us > 0)) {
      Add("nnk-best", "best", "best.median_us is " + Number(*entry_.median_us));
    }
    if (best["ci95"].IsNull()) return;
    if (!entry_.ci95_low || !entry_.ci95_high || best["ci95"].AsList().size() != 2) {
      return Add("nnk-ci95", "best", "best.ci95 is not [low, high]");
    }
    const double low = *entry_.ci95_low, high = *entry_.ci95_high;
    if (!(low <= high)) {
      Add("nnk-ci95", "best",
          "best.ci95 is [" + Number(low) + ", " + Number(high) + "]: not ordered");
    } else if (entry_.speedup && !(low <= *entry_.speedup && *entry_.speedup <= high)) {
      Add("nnk-ci95", "best",
          "best.ci95 [" + Number(low) + ", " + Number(high) + "] does not contain the speedup " +
              Number(*entry_.speedup));
    }
  }

  void CheckRed() {
    const Value& red = front_["red"];
    if (red.IsNull()) {
      if (entry_.state == "proved" || entry_.state == "replicated") {
        Add("nnk-red", "red", "the entry does not say that its test was seen to fail");
      }
      return;
    }
    const bool is_list = red["survivors"].IsList();
    const int64_t mutants = red["mutants"].AsInt(-1), killed = red["killed"].AsInt(-1);
    const int64_t survivors = is_list ? static_cast<int64_t>(red["survivors"].AsList().size())
                                      : red["survivors"].AsInt(-1);
    if (mutants < 1 || killed < 0 || survivors < 0) {
      return Add("nnk-red", "red", "red needs counts: mutants (at least 1), killed, survivors");
    }
    if (killed > mutants || survivors != mutants - killed) {
      Add("nnk-red", "red",
          std::to_string(mutants) + " mutants, " + std::to_string(killed) + " killed and " +
              std::to_string(survivors) + " survivors do not add up");
    }
  }

  // Every "sha256" below is a hash, or names with hashes. The depth is that of the parser.
  void CheckHashes(const Value& value, std::string_view key, int line) {
    line = value.line() > 0 ? value.line() : line;
    for (const auto& [name, child] : value.AsMap()) {
      const bool hashed = key == "sha256" || name == "sha256";
      CheckHashes(child, hashed ? "sha256" : std::string_view(name), line);
    }
    for (const Value& child : value.AsList()) CheckHashes(child, key, line);
    const bool scalar = !value.IsMap() && !value.IsList();
    if (key == "sha256" && scalar && !IsSha256(value.ToText())) {
      report_.Add("nnk-sha256", std::max(1, line),
                  Quoted(value.ToText()) + " is no SHA-256: 64 hexadecimal digits, lower case");
    }
  }

  void CheckFolders() {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_regular_file(document_.path, error)) return;
    const std::string folder(DirName(document_.path));
    CheckEvidence(ReadEvidence(folder.empty() ? "." : folder));
    if (!fs::is_directory(fs::path(folder) / "candidate", error)) {
      return report_.Add("nnk-candidate", 1, "there is no folder candidate/ beside the entry");
    }
    CheckCandidateFiles(folder);
  }

  // Each file that the entry names with its hash is there and unchanged.
  void CheckCandidateFiles(const std::string& folder) {
    const std::string candidate = folder + "/candidate/";
    for (const auto& [name, sha256] : front_["candidate"]["files_sha256"].AsMap()) {
      const bool safe = name.find("..") == std::string::npos && !name.starts_with('/');
      const std::optional<std::string> bytes = safe ? ReadFile(candidate + name) : std::nullopt;
      if (bytes && Sha256(*bytes) == sha256.AsString()) continue;
      Add("nnk-candidate", "candidate",
          "candidate/" + Printable(name) +
              (bytes ? " is not the file that was measured" : " is missing"));
    }
  }

  void CheckEvidence(const EvidenceFolder& evidence) {
    if (evidence.found == 0) {
      report_.Add("nnk-evidence", 1, "there is no evidence/*.json beside the entry");
    }
    if (!evidence.faults.empty()) {
      const size_t more = evidence.faults.size() - 1;
      report_.Add("nnk-evidence-digest", 1,
                  evidence.faults[0].message +
                      (more > 0 ? " (and " + std::to_string(more) + " more)" : ""));
    }
    if (!evidence.files.empty()) CheckState(StateFromEvidence(front_, evidence.files));
  }

  // "stale" is always allowed: it says less than the evidence does.
  void CheckState(const EntryState& computed) {
    if (IsNnkState(entry_.state) && entry_.state != "stale" && entry_.state != computed.state) {
      Add("nnk-state", "state",
          "state is " + Quoted(entry_.state) + ", by its evidence it is " + Quoted(computed.state) +
              ": " + computed.why);
    }
    if (!computed.best) return;
    const Value best = BestValue(*computed.best);
    for (const auto& [key, value] : best.AsMap()) {
      const Value& stated = front_["best"][key];
      if (stated.IsNull() || SameNumbers(stated, value)) continue;
      Add("nnk-state", "best",
          "best." + key + " is " + Quoted(WriteJson(stated)) + ", by the evidence it is " +
              Quoted(WriteJson(value)));
    }
  }

  const Document& document_;
  const Value& front_;
  const NnkEntry entry_;
  LintReport& report_;
};

}  // namespace

void LintNnk(const LintSource& source, LintReport& report) { NnkCheck(source, report).Run(); }

}  // namespace kb
