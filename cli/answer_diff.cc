#include "cli/answer_diff.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "indexer/ingest.h"
#include "indexer/retriever.h"
#include "kb/sha256.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

void Answer(Retriever& retriever, const std::vector<Question>& questions, Side* side) {
  for (size_t i = 0; i < questions.size(); ++i) {
    Query query;
    query.text = questions[i].query;
    query.k = kDiffTop;
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
  for (const std::string& root : ContentRoots()) {
    const fs::path path = fs::path(folder) / root;
    if (fs::is_directory(path, error)) options.roots.push_back(path.string());
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

DocumentChanges CompareDocuments(const std::map<std::string, std::string>& before,
                                 const std::map<std::string, std::string>& now) {
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

bool FirstIsRight(const Question& question, const std::vector<std::string>& answer) {
  if (answer.empty()) return false;
  for (const auto& [id, grade] : question.expected) {
    if (id == answer.front()) return true;
  }
  return false;
}

void Judge(AnswerDiff& diff) {
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

}  // namespace

const std::vector<std::string>& ContentRoots() {
  static const std::vector<std::string> roots = {"skills", "traces", "nnk"};
  return roots;
}

AnswerDiff CompareAnswers(const std::string& before, const std::string& now,
                          std::vector<Question> questions) {
  AnswerDiff diff;
  diff.questions = std::move(questions);
  diff.before = Look(before, diff.questions);
  diff.now = Look(now, diff.questions);
  diff.changes = Compare(diff.before, diff.now);
  diff.documents = CompareDocuments(diff.before.documents, diff.now.documents);
  Judge(diff);
  return diff;
}

}  // namespace kb
