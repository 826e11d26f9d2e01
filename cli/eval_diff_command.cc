// kb eval diff: what the questions would now be answered with, and were not before. Indexes the
// Markdown of a git revision and that of the working folder in temporary folders. Text is
// Markdown, for a job summary. With --json one value: {base, commit, questions, documents:
// {added, changed, removed: [path...]}, answers: [{id, query, before: [id...], now: [id...],
// gained, lost, other_passage}], right: {before, now}, asked, silent: [id...]}; ranks as found.
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "cli/answer_diff.h"
#include "cli/git_tree.h"
#include "cli/progress.h"
#include "cli/run_commands.h"
#include "indexer/evaluate.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRows = 100;
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
  for (const std::string& root : ContentRoots()) {
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

struct Diff : AnswerDiff {
  std::string base, commit;
};

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
      << diff.questions.size() << " questions are answered otherwise, by the best " << kDiffTop
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
  const std::vector<Question> questions = QuestionsOf(args, streams);
  const TemporaryFolder temporary;
  const std::string before = temporary.Make("before"), now = temporary.Make("now");
  Progress progress(streams);
  Diff diff;
  diff.base = args.Get("BASE");
  diff.commit = CheckOutMarkdown(diff.base, ContentRoots(), before).commit;
  CopyMarkdown(now);
  progress.Show("compare", 1, 2);
  static_cast<AnswerDiff&>(diff) = CompareAnswers(before, now, questions);
  progress.Clear();
  if (args.Has("--json")) {
    streams.out << WriteJson(DiffJson(diff), 2) << '\n';
  } else {
    WriteMarkdown(diff, streams.out);
  }
  return kFound;
}

}  // namespace kb
