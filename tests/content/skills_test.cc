// What the skills of this repository promise: clean headers, links that lead somewhere, and
// code blocks that compile, also for newer GPUs than the oldest they name.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/cuda_blocks.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/lint.h"
#include "tdd/toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSkills = 10;  // at least; more may come

std::string Read(const std::string& path) {
  std::string why;
  const auto text = ReadFile(path, &why);
  EXPECT_TRUE(text.has_value()) << path << ": " << why;
  return text.value_or("");
}

// SKILL.md files and the pages beside them. Under the full path: rules about links and folders
// look at the disk.
std::vector<Document> Documents() {
  Diagnostics diagnostics;
  std::vector<Document> documents;
  for (const FoundFile& file : FindDocuments(KB_SOURCE_DIR "/skills", &diagnostics)) {
    documents.push_back(ParseDocument(file.path, Read(file.path)));
  }
  for (const Diagnostic& found : diagnostics) ADD_FAILURE() << FormatDiagnostic(found);
  return documents;
}

std::vector<std::string> SkillFolders() {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(KB_SOURCE_DIR "/skills")) {
    if (entry.is_directory()) folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

void ExpectNone(const Diagnostics& diagnostics) {
  for (const Diagnostic& found : diagnostics) ADD_FAILURE() << FormatDiagnostic(found);
}

TEST(Skills, EachFolderHoldsASkillOfItsName) {
  const std::vector<std::string> folders = SkillFolders();
  EXPECT_GE(folders.size(), kSkills);
  for (const std::string& folder : folders) {
    const Document skill = ParseDocument(folder + "/SKILL.md", Read(folder + "/SKILL.md"));
    EXPECT_EQ(skill.kind, Kind::kSkill);
    EXPECT_EQ(skill.id, BaseName(folder));
    EXPECT_FALSE(skill.description_derived) << folder;
    EXPECT_EQ(skill.license, "CC-BY-4.0") << folder;
  }
}

TEST(Skills, ParseWithoutDiagnostics) {
  for (const Document& document : Documents()) ExpectNone(document.diagnostics);
}

// Links, claims and safety too. An entry that is cited must exist and be current.
TEST(Skills, LintClean) {
  Diagnostics ignored;
  std::vector<std::pair<std::string, std::string>> states;
  if (fs::is_directory(KB_SOURCE_DIR "/nnk")) {
    for (const FoundFile& file : FindDocuments(KB_SOURCE_DIR "/nnk", &ignored)) {
      if (BaseName(file.path) != "NNK.md") continue;
      const Document entry = ParseDocument(file.path, Read(file.path));
      states.emplace_back(entry.id, entry.state);
    }
  }
  LintContext context;
  context.strict_claims = true;
  context.entry_state = [&states](std::string_view id) -> std::string {
    for (const auto& [entry, state] : states) {
      if (entry == id) return state;
    }
    return "";
  };
  for (const Document& document : Documents()) ExpectNone(Lint(document, context));
}

// The two rules on which LintClean leans must be able to fail.
TEST(Skills, ABrokenLinkAndAnUnprovedNumberAreFound) {
  const std::string path = SkillFolders().front() + "/SKILL.md";
  const std::string text = Read(path);
  const auto fires = [&path](const std::string& damaged, const char* rule) {
    LintContext context;
    context.strict_claims = true;
    const Diagnostics found = Lint(ParseDocument(path, damaged), context);
    return std::any_of(found.begin(), found.end(),
                       [rule](const Diagnostic& d) { return d.rule == rule; });
  };
  EXPECT_TRUE(fires(text + "\nSee [more](references/no-such-page.md).\n", "link-broken"));
  EXPECT_TRUE(fires(text + "\nThis is 3.7x faster than before.\n", "skill-unproved-number"));
}

void ExpectPrompts(const Value& prompts, size_t at_least, const std::string& where) {
  EXPECT_TRUE(prompts.IsList()) << where;
  EXPECT_GE(prompts.AsList().size(), at_least) << where;
  for (const Value& prompt : prompts.AsList()) {
    EXPECT_GE(prompt["prompt"].AsString().size(), 10u) << where;
  }
}

// {"should_trigger": [{"prompt"}...], "should_not_trigger": [{"prompt", "better": skill|null}...]}
TEST(SkillEvals, HaveTheirShapeAndNameOtherSkills) {
  for (const std::string& folder : SkillFolders()) {
    const std::string path = folder + "/evals/evals.json";
    std::string why;
    const auto evals = ParseJson(Read(path), &why);
    ASSERT_TRUE(evals.has_value()) << path << ": " << why;
    ExpectPrompts((*evals)["should_trigger"], 8, path);
    ExpectPrompts((*evals)["should_not_trigger"], 5, path);
    for (const Value& prompt : (*evals)["should_not_trigger"].AsList()) {
      ASSERT_TRUE(prompt.Has("better")) << path;
      if (prompt["better"].IsNull()) continue;
      const std::string& better = prompt["better"].AsString();
      EXPECT_NE(better, BaseName(folder)) << path;
      EXPECT_TRUE(fs::exists(KB_SOURCE_DIR "/skills/" + better + "/SKILL.md")) << path << better;
    }
  }
}

// The number in "sm_90"; 0 if there is none.
int ArchNumber(std::string_view arch) {
  int number = 0;
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

// A block for a plain architecture must compile for newer ones too; one for "sm_90a" or
// "sm_100f" is for that family alone.
std::vector<std::string> ArchsOf(const CudaBlock& block) {
  std::vector<std::string> archs = {block.arch};
  if (block.arch.ends_with("a") || block.arch.ends_with("f")) return archs;
  for (const char* newer : {"sm_90a", "sm_100a"}) {
    if (ArchNumber(newer) >= ArchNumber(block.arch)) archs.emplace_back(newer);
  }
  return archs;
}

TEST(SkillBlocks, ArchsOfABlock) {
  const auto archs = [](const char* arch) { return ArchsOf({"", 0, arch, ""}); };
  EXPECT_EQ(archs("sm_80"), (std::vector<std::string>{"sm_80", "sm_90a", "sm_100a"}));
  EXPECT_EQ(archs("sm_90"), (std::vector<std::string>{"sm_90", "sm_90a", "sm_100a"}));
  EXPECT_EQ(archs("sm_100"), (std::vector<std::string>{"sm_100", "sm_100a"}));
  EXPECT_EQ(archs("sm_90a"), (std::vector<std::string>{"sm_90a"}));
}

std::vector<CudaBlock> AllBlocks() {
  std::vector<CudaBlock> blocks;
  for (const Document& document : Documents()) {
    for (CudaBlock& block : CudaBlocksOf(document)) blocks.push_back(std::move(block));
  }
  return blocks;
}

TEST(SkillBlocks, EachSkillShowsCodeThatIsCompiled) {
  const std::vector<CudaBlock> blocks = AllBlocks();
  for (const std::string& folder : SkillFolders()) {
    const auto is_in = [&folder](const CudaBlock& b) { return b.path.starts_with(folder + "/"); };
    EXPECT_TRUE(std::any_of(blocks.begin(), blocks.end(), is_in)) << folder;
  }
}

TEST(SkillBlocks, CompileForTheirArchitectureAndNewerOnes) {
  std::vector<CudaBlock> blocks;
  for (const CudaBlock& block : AllBlocks()) {
    for (const std::string& arch : ArchsOf(block)) {
      blocks.push_back(block);
      blocks.back().arch = arch;
    }
  }
  std::string why;
  const std::unique_ptr<Toolchain> nvrtc = OpenNvrtc(&why);
  if (nvrtc == nullptr) {
    const char* require = std::getenv("KB_REQUIRE_CUDA");
    ASSERT_FALSE(require != nullptr && std::string(require) == "1") << why;
    GTEST_SKIP() << blocks.size() << " compilations of code blocks skipped: " << why;
  }
  ExpectNone(CompileCudaBlocks(*nvrtc, blocks, {.threads = 2, .cache_dir = "", .progress = {}}));
  std::printf("%zu compilations with %s\n", blocks.size(), nvrtc->version().c_str());
}

}  // namespace
}  // namespace kb
