#include "tdd/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/lint.h"
#include "tdd/entry_text.h"
#include "tdd/safe_path.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr double kExplainBelow = 80;  // percent of the roofline
constexpr int64_t kMaxNotesBytes = 64 << 10;

[[noreturn]] void Fail(const std::string& what, const std::string& path, const std::string& why) {
  throw Error("cannot " + what + " " + Printable(path) + ": " + why +
              "; nothing was recorded: check space and permissions");
}

// ---- what may become knowledge ----

std::string WhyNot(const RecordRequest& request, const Value& value) {
  const Evaluation& evaluation = *request.evaluation;
  if (!evaluation.verdict.passed()) return "it did not pass: " + VerdictName(evaluation.verdict);
  if (value["environment"]["emulated"].AsBool()) return "no GPU ran it: it was emulated";
  if (!request.news.recordable()) return request.news.why;
  if (value["case"]["sha256"].AsString() != request.of_case->sha256) {
    return "the case has changed since it was measured: run it again";
  }
  if (value["candidate"]["sha256"].AsString() != request.candidate->sha256) {
    return "the candidate has changed since it was measured: run it again";
  }
  if (CountRed(value["red"]).mutants < 1) return "its test was not seen to fail: run it with red";
  const StageReport* green = evaluation.Find("green");
  const StageReport* plausible = evaluation.Find("plausible");
  if (green == nullptr || !green->verdict.passed()) return "its outputs were not tested";
  if (plausible == nullptr || !plausible->verdict.passed()) {
    return "its times were not held against the roofline";
  }
  if (!HeadlineOf(value)) return "nothing was timed";
  return "";
}

// Files of the candidate, as they were hashed, and NOTES.md. Empty: they are not those any more.
std::vector<KeptFile> KeepFiles(const Candidate& candidate) {
  std::string why;
  const std::optional<std::string> yaml =
      ReadInside(candidate.folder, "launch.yaml", kMaxSpecBytes, &why);
  if (!yaml) return {};
  std::vector<KeptFile> kept = {{"launch.yaml", *yaml}, {candidate.source, candidate.source_text}};
  for (const CandidateFile& file : candidate.files) kept.push_back({file.name, file.text});
  std::vector<NamedBytes> hashed;
  for (const KeptFile& file : kept) hashed.push_back({file.name, file.bytes});
  if (Sha256OfFiles(hashed) != candidate.sha256) return {};
  const std::optional<std::string> notes =
      ReadInside(candidate.folder, "NOTES.md", kMaxNotesBytes, &why);
  if (notes) kept.push_back({"NOTES.md", *notes});
  return kept;
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

bool MustExplain(const Headline& headline) {
  return headline.bound == "memory" && headline.percent_of_roofline &&
         *headline.percent_of_roofline < kExplainBelow;
}

// ---- writing ----

void SyncFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  static_cast<void>(::fsync(fd));  // the rename is done; some file systems cannot sync a folder
  static_cast<void>(::close(fd));
}

// A folder beside the entries, hidden from every walk; gone with the object.
class Draft {
 public:
  explicit Draft(const std::string& nnk_folder) {
    std::error_code error;
    fs::create_directories(nnk_folder, error);
    path_ = nnk_folder + "/.kb-tmp-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) Fail("make", path_, std::strerror(errno));
  }
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void WriteInto(const std::string& folder, const std::string& name, std::string_view bytes) {
  const std::string path = folder + "/" + name;
  std::error_code error;
  fs::create_directories(std::string(DirName(path)), error);
  if (error) Fail("make", std::string(DirName(path)), error.message());
  WriteFileAtomically(path, bytes);
}

std::string FirstFault(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity < Severity::kError) continue;
    return "lint would reject the entry: " + diagnostic.message + " [" + diagnostic.rule + "]";
  }
  return "";
}

// The whole folder in a draft, linted there, then renamed.
std::string WriteWhole(const RecordRequest& request, const EntryText& entry,
                       const EvidenceFile& evidence) {
  const Draft draft(request.nnk_folder);
  const std::string folder = draft.path() + "/" + entry.id;
  const std::string text = WriteEntryText(request, entry);
  for (const KeptFile& file : entry.files) WriteInto(folder, "candidate/" + file.name, file.bytes);
  WriteInto(folder, "evidence/" + evidence.name, WriteJson(evidence.value, 1) + "\n");
  WriteInto(folder, "NNK.md", text);
  std::string fault = FirstFault(Lint(ParseDocument(folder + "/NNK.md", text)));
  if (!fault.empty()) return fault;
  std::error_code error;
  const std::string target = request.nnk_folder + "/" + entry.id;
  fs::rename(folder, target, error);
  if (error) Fail("write", target, error.message());
  SyncFolder(request.nnk_folder);
  return "";
}

// ---- bringing an entry in line with its evidence ----

// The line of `key` in the front matter, replaced.
std::string WithFrontLine(const std::string& text, const std::string& key, const Value& value,
                          const std::string& path) {
  const size_t end = text.find("\n---\n", 3);
  const size_t at = text.find("\n" + key + ": ");
  if (end == std::string::npos || at == std::string::npos || at > end) {
    throw Error("cannot update " + Printable(path) + ": its front matter has no line \"" + key +
                ": ...\"; write it again with kb tdd record");
  }
  return text.substr(0, at + 1) + FrontLine(key, value) + text.substr(text.find('\n', at + 1) + 1);
}

// The same map with another value of `key`.
Value WithMember(const Value& map, const std::string& key, const Value& value) {
  Value::Map members = map.AsMap();
  for (auto& [name, member] : members) {
    if (name == key) member = value;
  }
  return Value(std::move(members));
}

void Bring(const KnownEntry& entry, const Value& newest) {
  const std::string path = entry.folder + "/NNK.md";
  std::string text = ReadFile(path).value_or("");
  const Value of_case = WithMember(entry.front_matter["case"], "sha256", newest["case"]["sha256"]);
  const Value front = WithMember(entry.front_matter, "case", of_case);
  const EntryState state = StateFromEvidence(front, ReadEvidence(entry.folder).files);
  text = WithFrontLine(text, "case", of_case, path);
  text = WithFrontLine(text, "state", state.state, path);
  if (state.best) {
    text = WithFrontLine(text, "best", BestValue(*state.best), path);
    text = WithFrontLine(text, "claim",
                         ClaimSentence(ClaimKindOf(front), *state.best, of_case["name"].ToText(),
                                       front["candidate"]["id"].ToText()),
                         path);
  }
  WriteFileAtomically(path, text);
}

std::string WhyNotEvidence(const KnownEntry& entry, const Evaluation& evaluation,
                           const Value& value) {
  constexpr Status kOurs[] = {Status::kSkipped,          Status::kInfraError,
                              Status::kTimeoutBuild,     Status::kInvalidCase,
                              Status::kInvalidReference, Status::kWeakTest};
  if (value["environment"]["emulated"].AsBool()) return "no GPU ran it: it was emulated";
  if (std::count(std::begin(kOurs), std::end(kOurs), evaluation.verdict.status) > 0) {
    return "it says nothing of the candidate: " + VerdictName(evaluation.verdict);
  }
  if (value["case"]["name"].AsString() != entry.front_matter["case"]["name"].ToText()) {
    return "it is of another case";
  }
  if (value["candidate"]["sha256"].AsString() !=
      entry.front_matter["candidate"]["sha256"].ToText()) {
    return "it is of another candidate";
  }
  return "";
}

}  // namespace

Recorded RecordEntry(const RecordRequest& request) {
  const Value value = ToValue(*request.evaluation);
  Recorded recorded;
  const auto refuse = [&](std::string why) {
    recorded.refused = std::move(why);
    return recorded;
  };
  if (std::string why = WhyNot(request, value); !why.empty()) return refuse(std::move(why));
  EntryText entry;
  entry.id = request.id.empty() ? request.of_case->name + "-" + request.candidate->id : request.id;
  if (!PathFault(entry.id).empty() || entry.id.find('/') != std::string::npos) {
    return refuse("the id " + Printable(entry.id) + " is no safe folder name: give another");
  }
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(request.nnk_folder + "/" + entry.id, ignored))) {
    return refuse("nnk/" + entry.id + " is there already: kb tdd prove it, or give another id");
  }
  entry.files = KeepFiles(*request.candidate);
  if (entry.files.empty()) return refuse("the candidate has changed since it was measured");
  for (const KeptFile& file : entry.files) {
    if (file.name == "NOTES.md") entry.notes = file.bytes;
  }
  const EvidenceFile evidence = {EvidenceFileName(value), EvidenceDigest(value), value};
  Value front(Value::Map{{"kind", ClaimKindName(request.news.claim)},
                         {"case", value["case"]},
                         {"candidate", value["candidate"]}});
  entry.state = StateFromEvidence(front, {evidence});
  if (entry.state.state != "proved") return refuse(entry.state.why);
  entry.headline = *entry.state.best;
  entry.limit = Trimmed(request.candidate->limit);
  if (entry.limit.empty()) entry.limit = Trimmed(ReadNotes(entry.notes).limit);
  if (entry.limit.empty() && MustExplain(entry.headline)) {
    return refuse(
        "a memory-bound time under 80 % of the roofline says what limits it: write "
        "limit: in launch.yaml, or a heading \"What limits it\" in NOTES.md");
  }
  if (std::string why = WriteWhole(request, entry, evidence); !why.empty()) {
    return refuse(std::move(why));
  }
  recorded.id = entry.id;
  recorded.folder = request.nnk_folder + "/" + entry.id;
  return recorded;
}

Recorded AppendEvidence(const std::string& entry_folder, const Evaluation& evaluation) {
  const std::optional<KnownEntry> entry = ReadEntry(entry_folder);
  if (!entry) {
    throw Error("cannot read " + Printable(entry_folder) +
                "/NNK.md: it is no entry; name a folder of nnk/");
  }
  const Value value = ToValue(evaluation);
  Recorded recorded;
  recorded.id = entry->id;
  recorded.folder = entry->folder;
  recorded.refused = WhyNotEvidence(*entry, evaluation, value);
  if (!recorded.refused.empty()) return recorded;
  const std::string path = entry->folder + "/evidence/" + EvidenceFileName(value);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) {
    WriteInto(entry->folder, "evidence/" + EvidenceFileName(value), WriteJson(value, 1) + "\n");
  }
  Bring(*entry, value);
  return recorded;
}

}  // namespace kb
