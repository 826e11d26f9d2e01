// kb eval diff: what the questions would now be answered with, and were not before. Indexes the
// Markdown of a git revision and that of the working folder in temporary folders. Text is
// Markdown, for a job summary. With --json one value: {base, commit, questions, documents:
// {added, changed, removed: [path...]}, answers: [{id, query, before: [id...], now: [id...],
// gained, lost, other_passage}], right: {before, now}, asked, silent: [id...]}; ranks as found.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cli/git_tree.h"
#include "cli/progress.h"
#include "cli/run_commands.h"
#include "indexer/evaluate.h"
#include "indexer/ingest.h"
#include "indexer/retriever.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr int kTop = 3;  // as many as a context takes
constexpr size_t kMaxRows = 100;
const std::vector<std::string> kRoots = {"skills", "traces", "nnk"};
constexpr char kQuestions[] = "tests/content/queries.jsonl";

// A folder of one's own that goes when this goes.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "kb-eval-diff-XXXXXX").string();
    if (error || ::mkdtemp(path_.data()) == nullptr) {
      throw Error("cannot make a temporary folder; set TMPDIR to one that can be written");
    }
  }
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  // A new folder in it.
  [[nodiscard]] std::string Make(const char* name) const {
    fs::create_directory(path_ + "/" + name);
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

// The working folder's Markdown, as the index would find it.
void CopyMarkdown(const std::string& folder) {
  std::error_code error;
  for (const std::string& root : kRoots) {
    if (!fs::is_directory(root, error)) continue;
    Diagnostics ignored;  // kb lint and kb index say them
    for (const FoundFile& file : FindDocuments(root, &ignored)) {
      const auto bytes = ReadFile(file.path);
      if (!bytes) continue;
      const fs::path copy = fs::path(folder) / file.path;
      fs::create_directories(copy.parent_path());
      WriteFileAtomically(copy.string(), *bytes);
    }
  }
}

using Paths = std::map<std::string, std::string>;  // document path -> SHA-256

// One state of the content: what is in it, and how it answers.
struct Side {
  Paths documents;
  std::set<std::string> bundles;                   // ids that an answer may name
  std::vector<std::vector<std::string>> answers;   // ids, best first, by question
  std::vector<std::vector<std::string>> passages;  // path and digest of the text, likewise
};

void Answer(Retriever& retriever, const std::vector<Question>& questions, Side* side) {
  for (size_t i = 0; i < questions.size(); ++i) {
    Query query;
    query.text = questions[i].query;
    query.k = kTop;
    for (const Hit& hit : retriever.Search(query).hits) {
      side->answers[i].push_back(hit.bundle_id);
      side->passages[i].push_back(hit.document.path + " " + Sha256(retriever.PassageText(hit)));
    }
  }
}

Side Look(const std::string& folder, const std::vector<Question>& questions) {
  Side side;
  side.answers.resize(questions.size());
  side.passages.resize(questions.size());
  IngestOptions options;
  std::error_code error;
  for (const std::string& root : kRoots) {
    if (fs::is_directory(folder + "/" + root, error)) {
      options.roots.push_back(folder + "/" + root);
    }
  }
  if (options.roots.empty()) return side;
  const std::string kb_dir = folder + "/.kb";
  if (Ingest(kb_dir, options).documents == 0) return side;
  Retriever retriever(kb_dir);
  for (const CatalogDocument& document : retriever.catalog().Documents()) {
    if (document.blocked) continue;
    side.documents.emplace(document.path, document.sha256);
    if (document.kind != Kind::kPage) side.bundles.insert(document.id);
  }
  Answer(retriever, questions, &side);
  return side;
}

struct Change {
  size_t question;
  std::vector<std::string> gained, lost;
  bool same_documents = false;  // other passages or another order of the same
};

std::vector<std::string> Missing(const std::vector<std::string>& from,
                                 const std::vector<std::string>& in) {
  std::vector<std::string> missing;
  for (const std::string& id : from) {
    if (std::find(in.begin(), in.end(), id) == in.end()) missing.push_back(id);
  }
  return missing;
}

std::vector<Change> Compare(const Side& before, const Side& now) {
  std::vector<Change> changes;
  for (size_t i = 0; i < now.answers.size(); ++i) {
    if (before.passages[i] == now.passages[i]) continue;
    Change change = {i, Missing(now.answers[i], before.answers[i]),
                     Missing(before.answers[i], now.answers[i]), false};
    change.same_documents = change.gained.empty() && change.lost.empty();
    changes.push_back(std::move(change));
  }
  return changes;
}

struct DocumentChanges {
  std::vector<std::string> added, changed, removed;
};

DocumentChanges CompareDocuments(const Paths& before, const Paths& now) {
  DocumentChanges changes;
  for (const auto& [path, sha256] : now) {
    const auto old = before.find(path);
    if (old == before.end()) {
      changes.added.push_back(path);
    } else if (old->second != sha256) {
      changes.changed.push_back(path);
    }
  }
  for (const auto& [path, sha256] : before) {
    if (!now.contains(path)) changes.removed.push_back(path);
  }
  return changes;
}

struct Diff {
  std::string base, commit;
  std::vector<Question> questions;
  Side before, now;
  std::vector<Change> changes;
  DocumentChanges documents;
  int asked = 0, right_before = 0, right_now = 0;  // questions with a known answer; first is right
  std::vector<std::string> silent;                 // new ids that no question finds
};

bool FirstIsRight(const Question& question, const std::vector<std::string>& answer) {
  if (answer.empty()) return false;
  for (const auto& [id, grade] : question.expected) {
    if (id == answer.front()) return true;
  }
  return false;
}

void Judge(Diff& diff) {
  std::set<std::string> found;
  for (size_t i = 0; i < diff.questions.size(); ++i) {
    found.insert(diff.now.answers[i].begin(), diff.now.answers[i].end());
    if (diff.questions[i].expected.empty()) continue;
    ++diff.asked;
    diff.right_before += FirstIsRight(diff.questions[i], diff.before.answers[i]) ? 1 : 0;
    diff.right_now += FirstIsRight(diff.questions[i], diff.now.answers[i]) ? 1 : 0;
  }
  for (const std::string& id : diff.now.bundles) {
    if (!diff.before.bundles.contains(id) && !found.contains(id)) diff.silent.push_back(id);
  }
}

// Text of others inside a Markdown table or list.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    if (std::string_view("\\`*_[]<>|&#@~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string Joined(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ", ") + Escaped(id);
  return text.empty() ? "nothing" : text;
}

void WriteDocuments(const DocumentChanges& documents, std::ostream& out) {
  const auto list = [&](const char* what, const std::vector<std::string>& paths) {
    for (size_t i = 0; i < paths.size() && i < kMaxRows; ++i) {
      out << "- " << what << ": " << Escaped(paths[i]) << '\n';
    }
    if (paths.size() > kMaxRows) out << "- and " << paths.size() - kMaxRows << " more\n";
  };
  list("new", documents.added);
  list("changed", documents.changed);
  list("gone", documents.removed);
}

void WriteAnswers(const Diff& diff, std::ostream& out) {
  size_t rows = 0, others = 0;
  for (const Change& change : diff.changes) {
    if (change.same_documents) {
      ++others;
      continue;
    }
    if (++rows > kMaxRows) continue;
    if (rows == 1) out << "\n| question | now also | no longer | now |\n|---|---|---|---|\n";
    const auto cell = [](const std::vector<std::string>& ids) {
      return ids.empty() ? "" : Joined(ids);
    };
    out << "| " << Escaped(diff.questions[change.question].query) << " | " << cell(change.gained)
        << " | " << cell(change.lost) << " | " << Joined(diff.now.answers[change.question])
        << " |\n";
  }
  if (rows > kMaxRows) out << "\nand " << rows - kMaxRows << " more questions.\n";
  if (others > 0) {
    out << "\nFrom the same documents, in another order or with another passage: " << others
        << " questions.\n";
  }
  if (diff.changes.empty()) out << "\nNo question is answered otherwise than before.\n";
}

void WriteMarkdown(const Diff& diff, std::ostream& out) {
  out << "## What an agent would now retrieve\n\nAgainst " << Escaped(diff.base) << " ("
      << diff.commit.substr(0, 12) << "): " << diff.changes.size() << " of "
      << diff.questions.size() << " questions are answered otherwise, by the best " << kTop
      << ".\n";
  if (diff.asked > 0) {
    out << "The first answer is right for " << diff.right_before << " of " << diff.asked
        << " before and " << diff.right_now << " now.\n";
  }
  WriteAnswers(diff, out);
  if (!diff.silent.empty()) {
    out << "\nNo question finds " << Joined(diff.silent) << ": add some that it answers.\n";
  }
  out << "\n### Documents\n\n";
  WriteDocuments(diff.documents, out);
  const DocumentChanges& d = diff.documents;
  if (d.added.empty() && d.changed.empty() && d.removed.empty()) out << "None has changed.\n";
}

Value ListJson(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

Value DiffJson(const Diff& diff) {
  Value::List answers;
  for (const Change& change : diff.changes) {
    const size_t i = change.question;
    answers.push_back(Value(Value::Map{{"id", diff.questions[i].id},
                                       {"query", diff.questions[i].query},
                                       {"before", ListJson(diff.before.answers[i])},
                                       {"now", ListJson(diff.now.answers[i])},
                                       {"gained", ListJson(change.gained)},
                                       {"lost", ListJson(change.lost)},
                                       {"other_passage", change.same_documents}}));
  }
  return Value(Value::Map{
      {"base", diff.base},
      {"commit", diff.commit},
      {"questions", static_cast<int>(diff.questions.size())},
      {"documents", Value(Value::Map{{"added", ListJson(diff.documents.added)},
                                     {"changed", ListJson(diff.documents.changed)},
                                     {"removed", ListJson(diff.documents.removed)}})},
      {"answers", Value(std::move(answers))},
      {"asked", diff.asked},
      {"right", Value(Value::Map{{"before", diff.right_before}, {"now", diff.right_now}})},
      {"silent", ListJson(diff.silent)}});
}

std::vector<Question> QuestionsOf(const Args& args, Streams& streams) {
  const std::string file = args.Get("--queries", kQuestions);
  std::string why;
  const auto text = ReadFile(file, &why);
  if (!text) {
    throw Error("cannot read the questions in " + file + ": " + why +
                "; name them: --queries FILE, JSON lines {id, query, expected}");
  }
  Diagnostics diagnostics;
  auto questions = ReadQuestions(*text, file, &diagnostics);
  for (const Diagnostic& bad : diagnostics) streams.talk << FormatDiagnostic(bad) << '\n';
  if (questions.empty()) throw Error("no questions in " + file + "; write some");
  return questions;
}

}  // namespace

int RunEvalDiff(const Args& args, Streams& streams) {
  Diff diff;
  diff.base = args.Get("BASE");
  diff.questions = QuestionsOf(args, streams);
  Progress progress(streams);
  const TemporaryFolder temporary;
  const std::string base = temporary.Make("base"), now = temporary.Make("now");
  diff.commit = CheckOutMarkdown(diff.base, kRoots, base).commit;
  CopyMarkdown(now);
  progress.Show("index", 1, 3);
  diff.before = Look(base, diff.questions);
  progress.Show("index", 2, 3);
  diff.now = Look(now, diff.questions);
  progress.Clear();
  diff.changes = Compare(diff.before, diff.now);
  diff.documents = CompareDocuments(diff.before.documents, diff.now.documents);
  Judge(diff);
  if (args.Has("--json")) {
    streams.out << WriteJson(DiffJson(diff), 2) << '\n';
  } else {
    WriteMarkdown(diff, streams.out);
  }
  return kFound;
}

}  // namespace kb
