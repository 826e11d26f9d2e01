// Judges as files: built once, found again, and what is said where none can be built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "tdd/judge.h"
#include "tdd/process.h"
#include "tdd/scratch.h"
#include "tests/tdd/judge_folder.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kReference[] =
    "#include \"kb/case_test.h\"\n"
    "void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) { out[\"y\"] = in[\"x\"]; "
    "}\n";
constexpr char kHasNoTest[] = "#include \"kb/case_test.h\"\n";
constexpr char kDisabled[] =
    "#include \"kb/case_test.h\"\n"
    "TEST(Copy, DISABLED_Matches) { kb::test::Run run(kb::test::Workloads()[0]); }\n";

// Sets a variable for one test. nullptr: unset.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

class JudgeBuildTest : public ::testing::Test {
 protected:
  // A case that copies a vector.
  Case Write(const std::string& reference, const std::string& test) {
    const std::string folder = scratch_.path() + "/copy-f32";
    fs::create_directories(folder);
    std::ofstream(folder + "/reference.cc") << reference;
    std::ofstream(folder + "/test.cc") << test;
    Case made;
    made.folder = folder;
    made.name = "copy-f32";
    TensorSpec tensor;
    tensor.name = "x";
    tensor.shape = {Expression(8)};
    made.inputs = {tensor};
    tensor.name = "y";
    made.outputs = {tensor};
    made.tolerances = {{"y", 0, 0, Expression(0)}};
    made.check = made.time = {{"8", {}}};
    return made;
  }
  [[nodiscard]] static std::string Judges() { return SharedJudges(); }
  [[nodiscard]] static int FilesNamed(const std::string& part) {
    int count = 0;
    for (const auto& entry : fs::directory_iterator(Judges())) {
      count += entry.path().filename().string().find(part) != std::string::npos ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] Verdict RunIt(const Case& made, const std::string& judge) const {
    auto never = [](int, const std::string&) { return RunReply{}; };
    return RunTests(judge, made, never, "reference", 1, false, 20, scratch_.path()).verdict;
  }

  const Scratch scratch_{::testing::TempDir()};
};

TEST_F(JudgeBuildTest, BuildsOnceAlsoWhenTwoDoItAtOnce) {
  const Case made = Write(kReference, kHasNoTest);
  auto build = [&] { return BuildJudge(made, Judges()); };
  std::future<BuiltJudge> other = std::async(std::launch::async, build);
  const BuiltJudge one = build();
  ASSERT_TRUE(one.verdict.passed()) << one.verdict.message;
  EXPECT_EQ(other.get().path, one.path);
  EXPECT_EQ(FilesNamed("copy-f32-"), 1);
  EXPECT_EQ(FilesNamed(".build-"), 0);
  EXPECT_EQ(VerdictName(RunIt(made, one.path)), "WEAK_TEST");

  // It is found again where there is no compiler, under the same name, and needs none to run.
  const Variable cxx("CXX", nullptr);
  const Variable path("PATH", "/nowhere");
  EXPECT_EQ(build().path, one.path);
}

TEST_F(JudgeBuildTest, ADisabledTestIsNoTest) {
  const Case made = Write(kReference, kDisabled);
  const BuiltJudge built = BuildJudge(made, Judges());
  ASSERT_TRUE(built.verdict.passed()) << built.verdict.message;
  EXPECT_EQ(VerdictName(RunIt(made, built.path)), "WEAK_TEST");
}

struct BadSource {
  const char* reference;
  const char* test;
  const char* says;
};
constexpr BadSource kBadSources[] = {
    {"int x = ;\n", kHasNoTest, "reference.cc:1:9: error: expected"},
    {kReference, "\n\nTEST(", "test.cc:3"},
    {"int x;\n", kHasNoTest, "undefined reference to `Reference("},
    {kReference, "#include \"../../secret.h\"\n", "secret.h: No such file"},
};

TEST_F(JudgeBuildTest, TellsTheCompilersFirstErrorAndLeavesNothing) {
  const int before = FilesNamed("copy-f32-");
  for (const BadSource& bad : kBadSources) {
    const BuiltJudge built = BuildJudge(Write(bad.reference, bad.test), Judges());
    EXPECT_EQ(VerdictName(built.verdict), "INVALID_REFERENCE") << bad.says;
    EXPECT_THAT(built.verdict.message, HasSubstr(bad.says));
    EXPECT_EQ(built.path, "");
    EXPECT_EQ(FilesNamed("copy-f32-") + FilesNamed(".build-"), before);
  }
}

TEST_F(JudgeBuildTest, WithoutACompilerSaysWhatToInstall) {
  const Variable cxx("CXX", nullptr);
  const Variable path("PATH", "/nowhere");
  const BuiltJudge built = BuildJudge(Write(kReference, kHasNoTest), scratch_.path());
  EXPECT_EQ(VerdictName(built.verdict), "SKIPPED(no compiler)");
  EXPECT_THAT(built.verdict.message,
              AllOf(HasSubstr("no C++ compiler"), HasSubstr("libgtest-dev")));
}

TEST_F(JudgeBuildTest, ACaseWithoutATestIsInvalid) {
  const Case made = Write(kReference, kHasNoTest);
  fs::remove(made.folder + "/test.cc");
  EXPECT_EQ(BuildJudge(made, Judges()).verdict.status, Status::kInvalidCase);
}

TEST_F(JudgeBuildTest, AFolderThatCannotBeMadeIsOurFault) {
  const Case made = Write(kReference, kHasNoTest);
  EXPECT_EQ(BuildJudge(made, made.folder + "/test.cc/judges").verdict.status, Status::kInfraError);
}

TEST_F(JudgeBuildTest, AJudgeAloneSaysWhatItIs) {
  const BuiltJudge built = BuildJudge(Write(kReference, kHasNoTest), Judges());
  ASSERT_TRUE(built.verdict.passed()) << built.verdict.message;
  ProcessOptions options;
  options.argv = {built.path};
  const ProcessResult result = RunProcess(options);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.talk, StartsWith("the judge of a case"));
}

}  // namespace
}  // namespace kb
