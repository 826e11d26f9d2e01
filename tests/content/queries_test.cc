// Judges the search over the skills of this repository by the questions in queries.jsonl, and
// the questions by their own rules. The numbers are gates: what was measured, with a little room.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "indexer/evaluate.h"
#include "indexer/ingest.h"
#include "kb/file.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr char kFile[] = KB_SOURCE_DIR "/tests/content/queries.jsonl";
constexpr char kSkills[] = KB_SOURCE_DIR "/skills";
// Measured: 15 of 18 refused rightly, 1 of 115 wrongly.
constexpr int kRefusedRightlyAtLeast = 14;
constexpr int kRefusedWronglyAtMost = 2;

std::string Read(const std::string& path) {
  std::string why;
  const auto text = ReadFile(path, &why);
  EXPECT_TRUE(text.has_value()) << path << ": " << why;
  return text.value_or("");
}

std::vector<Question> Questions() {
  Diagnostics diagnostics;
  std::vector<Question> questions = ReadQuestions(Read(kFile), kFile, &diagnostics);
  for (const Diagnostic& bad : diagnostics) ADD_FAILURE() << FormatDiagnostic(bad);
  return questions;
}

std::string KindOf(const Question& question) { return question.fields["kind"].AsString(); }

std::vector<Question> OfKind(const std::string& kind) {
  std::vector<Question> questions = Questions();
  std::erase_if(questions, [&](const Question& q) { return KindOf(q) != kind; });
  return questions;
}

// ---- the questions ----

TEST(ContentQuestions, AreManyAndOfAllKinds) {
  std::map<std::string, size_t> kinds, splits;
  for (const Question& question : Questions()) {
    ++kinds[KindOf(question)];
    ++splits[question.fields["split"].AsString()];
  }
  const size_t all = Questions().size();
  EXPECT_GE(all, 60u);
  EXPECT_GE(kinds["symptom"] * 2, all);
  EXPECT_GE(kinds["identifier"] * 4, all);
  EXPECT_GE(kinds["unanswerable"], 10u);
  EXPECT_EQ(kinds["symptom"] + kinds["topic"] + kinds["identifier"] + kinds["unanswerable"], all);
  EXPECT_EQ(splits["dev"] + splits["test"], all);
  EXPECT_GE(splits["test"] * 3, all);
}

TEST(ContentQuestions, AreUnique) {
  std::set<std::string> ids, texts;
  for (const Question& question : Questions()) {
    EXPECT_FALSE(question.id.empty());
    EXPECT_TRUE(ids.insert(question.id).second) << question.id;
    EXPECT_TRUE(texts.insert(question.query).second) << question.query;
  }
}

TEST(ContentQuestions, ExpectSkillsThatExistWithGradesFrom1To3) {
  for (const Question& question : Questions()) {
    EXPECT_EQ(question.expected.empty(), KindOf(question) == "unanswerable") << question.id;
    EXPECT_TRUE(question.fields.Has("expected")) << question.id;
    for (const auto& [skill, grade] : question.expected) {
      EXPECT_TRUE(fs::exists(std::string(kSkills) + "/" + skill + "/SKILL.md"))
          << question.id << ": " << skill;
      EXPECT_GE(grade, 1) << question.id;
      EXPECT_LE(grade, 3) << question.id;
    }
  }
}

TEST(ContentQuestions, AskForEachSkillAtLeast4Times) {
  std::map<std::string, int> asked;
  for (const Question& question : Questions()) {
    for (const auto& [skill, grade] : question.expected) ++asked[skill];
  }
  for (const auto& entry : fs::directory_iterator(kSkills)) {
    if (!entry.is_directory()) continue;
    const std::string skill = entry.path().filename();
    EXPECT_GE(asked[skill], 4) << skill;
  }
}

// A question for a word that its skill does not hold would measure nothing.
TEST(ContentQuestions, IdentifiersOccurInEachSkillTheyExpect) {
  for (const Question& question : OfKind("identifier")) {
    const std::string identifier = question.query.substr(question.query.rfind(' ') + 1);
    for (const auto& [skill, grade] : question.expected) {
      const std::string text = Read(std::string(kSkills) + "/" + skill + "/SKILL.md");
      EXPECT_NE(text.find(identifier), std::string::npos) << identifier << " in " << skill;
    }
  }
}

// ---- the search ----

class ContentSearch : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = ::testing::TempDir() + "/kb_content_" + std::to_string(::getpid());
    IngestOptions options;
    options.roots = {kSkills};
    (void)Ingest(folder_, options);
    retriever_ = std::make_unique<Retriever>(folder_);
  }

  static void TearDownTestSuite() {
    retriever_.reset();
    fs::remove_all(folder_);
  }

  static VariantScore Score(Variant variant) {
    return EvaluateRetrieval(*retriever_, Questions(), variant);
  }

  static inline std::string folder_;
  static inline std::unique_ptr<Retriever> retriever_;
};

// Each measure is a mean over the answerable questions. NaN fails.
void ExpectAtLeast(const char* measure, const Estimate& full, const Estimate& floor) {
  EXPECT_GE(full.mean, floor.mean) << measure;
}

TEST_F(ContentSearch, IsNeverBelowItsLexicalLegAlone) {
  const VariantScore full = Score(Variant::kFull), lexical = Score(Variant::kLexical);
  ExpectAtLeast("recall@1", full.recall_at_1, lexical.recall_at_1);
  ExpectAtLeast("recall@5", full.recall_at_5, lexical.recall_at_5);
  ExpectAtLeast("MRR", full.mrr, lexical.mrr);
  ExpectAtLeast("nDCG@10", full.ndcg_at_10, lexical.ndcg_at_10);
}

TEST_F(ContentSearch, FindsEachIdentifierWithinTheFirst3AndNeverRefusesIt) {
  for (const Question& question : OfKind("identifier")) {
    const Answer answer = retriever_->Search({.text = question.query, .k = 3});
    EXPECT_FALSE(answer.nothing_applies) << question.query << ": " << answer.why;
    const bool found = std::any_of(answer.hits.begin(), answer.hits.end(), [&](const Hit& hit) {
      return std::any_of(question.expected.begin(), question.expected.end(),
                         [&](const auto& skill) { return skill.first == hit.bundle_id; });
    });
    EXPECT_TRUE(found) << question.query;
  }
}

TEST_F(ContentSearch, RefusesWhatNoSkillAnswersAndLittleElse) {
  const VariantScore full = Score(Variant::kFull);
  EXPECT_GE(full.refused_rightly, kRefusedRightlyAtLeast) << "of " << full.unanswerable;
  EXPECT_LE(full.refused_wrongly, kRefusedWronglyAtMost) << "of " << full.answerable;
}

}  // namespace
}  // namespace kb
