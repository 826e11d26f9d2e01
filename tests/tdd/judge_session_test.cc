// A judge that stays, on the timed workload of tests/data/tdd/cases/prefix-f32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "kb/file.h"
#include "tdd/judge.h"
#include "tdd/scratch.h"
#include "tests/tdd/judge_folder.h"

namespace kb {
namespace {

using ::testing::HasSubstr;
using Floats = std::vector<float>;

Floats ReadFloats(const std::string& path) {
  const std::string bytes = ReadFile(path).value_or("");
  Floats values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
void WriteValues(const std::string& path, const std::vector<T>& values) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

class JudgeSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    LoadedCase loaded = LoadCase(std::string(KB_SOURCE_DIR) + "/tests/data/tdd/cases/prefix-f32");
    ASSERT_TRUE(loaded.ok());
    case_ = std::move(loaded.value);
    built_ = BuildJudge(case_, SharedJudges());
    ASSERT_TRUE(built_.verdict.passed()) << built_.verdict.message;
  }
  [[nodiscard]] std::unique_ptr<JudgeSession> Start(uint64_t seed) const {
    Verdict why;
    auto session = StartJudge(built_.path, case_, seed, scratch_.path(), &why);
    EXPECT_NE(session, nullptr) << VerdictName(why) << ": " << why.message;
    return session;
  }
  [[nodiscard]] std::string Folder(int set) const {
    return scratch_.path() + "/set" + std::to_string(set);
  }
  // The right outputs for the inputs there, with `wrong` added to one of them.
  void Answer(const std::string& folder, float wrong = 0) const {
    const int64_t cols = case_.time[0].axes.at("cols");
    Floats sum = ReadFloats(folder + "/in.x");
    std::vector<int32_t> top(sum.size() / static_cast<size_t>(cols));
    for (size_t r = 0; r < top.size(); ++r) {
      float* row = &sum[r * static_cast<size_t>(cols)];
      top[r] = static_cast<int32_t>(std::max_element(row, row + cols) - row);
      float total = 0;
      for (int64_t c = 0; c < cols; ++c) row[c] = total += 0.1f * row[c];
    }
    sum[77] += wrong;
    WriteValues(folder + "/out.sum", sum);
    WriteValues(folder + "/out.top", top);
  }
  [[nodiscard]] static std::string Check(JudgeSession* session, int set,
                                         const std::string& folder) {
    return VerdictName(session->Check(set, folder, nullptr));
  }

  const Scratch scratch_{::testing::TempDir()};
  Case case_;
  BuiltJudge built_;
};

TEST_F(JudgeSessionTest, ChecksTheOutputsOfEachSetAgainstItsOwnInputs) {
  const std::unique_ptr<JudgeSession> session = Start(5);
  ASSERT_NE(session, nullptr);
  for (int set : {0, 1}) {
    ASSERT_TRUE(session->DrawInputs(0, set, Folder(set)).passed());
    Answer(Folder(set));
  }
  std::vector<Comparison> comparisons;
  EXPECT_TRUE(session->Check(1, Folder(1), &comparisons).passed());
  EXPECT_TRUE(session->Check(0, Folder(0), &comparisons).passed());
  ASSERT_EQ(comparisons.size(), 4u);
  EXPECT_EQ(comparisons[0].output, "sum");
  EXPECT_EQ(comparisons[0].workload, case_.time[0].label);
  EXPECT_EQ(comparisons[0].matched, 1);
  EXPECT_GT(comparisons[0].max_abs, 0);
  EXPECT_EQ(Check(session.get(), 0, Folder(1)), "INCORRECT_NUMERICAL");

  // A stale output does not match the inputs that were drawn in its place.
  ASSERT_TRUE(session->DrawInputs(0, 0, Folder(0)).passed());
  EXPECT_EQ(Check(session.get(), 0, Folder(0)), "INCORRECT_NUMERICAL");
  Answer(Folder(0));
  EXPECT_EQ(Check(session.get(), 0, Folder(0)), "PASSED");
}

TEST_F(JudgeSessionTest, TellsWrongOutputsApart) {
  const std::unique_ptr<JudgeSession> session = Start(5);
  ASSERT_NE(session, nullptr);
  ASSERT_TRUE(session->DrawInputs(0, 3, Folder(3)).passed());
  EXPECT_EQ(Check(session.get(), 3, Folder(3)), "INCORRECT_SHAPE");
  Answer(Folder(3), 0.01f);
  const Verdict verdict = session->Check(3, Folder(3), nullptr);
  EXPECT_EQ(VerdictName(verdict), "INCORRECT_NUMERICAL");
  EXPECT_THAT(verdict.message, HasSubstr("sum[77] is "));
  Answer(Folder(3), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(Check(session.get(), 3, Folder(3)), "INCORRECT_NONFINITE");
  Answer(Folder(3));
  EXPECT_EQ(Check(session.get(), 3, Folder(3)), "PASSED");
  EXPECT_EQ(Check(session.get(), 4, Folder(3)), "INFRA_ERROR");  // a set that nobody drew
  EXPECT_NE(Check(session.get(), 3, Folder(3)), "PASSED");       // and that was its end
}

TEST_F(JudgeSessionTest, DrawsByItsSeed) {
  Floats drawn[3];
  for (int i = 0; i < 3; ++i) {
    const std::unique_ptr<JudgeSession> session = Start(i == 0 ? 1 : 2);
    ASSERT_NE(session, nullptr);
    ASSERT_TRUE(session->DrawInputs(0, 0, Folder(0)).passed());
    drawn[i] = ReadFloats(Folder(0) + "/in.x");
  }
  EXPECT_EQ(drawn[1].size(), 64u * 4096u);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(drawn[1], drawn[2]);
}

}  // namespace
}  // namespace kb
