#include "tdd/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tdd/dtype.h"

namespace kb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Result(const std::string& text) {
  const Axes axes = {{"n", 1000}, {"block", 256}, {"zero", 0}, {"big", INT64_MAX}};
  std::string why;
  const std::optional<Expression> parsed = Expression::Parse(text, &why);
  if (!parsed) return "bad: " + why;
  EXPECT_EQ(parsed->text(), text);
  const std::optional<int64_t> value = parsed->Evaluate(axes, &why);
  return value ? std::to_string(*value) : why;
}

struct Row {
  const char* text;
  const char* result;
};

TEST(Expression, EvaluatesAsWritten) {
  const Row rows[] = {
      {"1", "1"},
      {"1_000", "1000"},
      {"0x10", "16"},
      {"n", "1000"},
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"10 - 4 - 3", "3"},
      {"2 * 7 / 4 % 2", "1"},
      {"-7 / 2", "-4"},
      {"-7 % 2", "1"},
      {"7 / -2", "-4"},
      {"7 % -2", "-1"},
      {"- -3", "3"},
      {"!0 + !5", "1"},
      {"1 << 4 + 1", "32"},
      {"-16 >> 2", "-4"},
      {"1 < 2 == 1", "1"},
      {"3 <= 2", "0"},
      {"3 > 2", "1"},
      {"3 >= 4", "0"},
      {"3 != 3", "0"},
      {"0 && 1 / zero", "0"},
      {"2 || 1 / zero", "1"},
      {"0 || 3", "1"},
      {"n > 5 ? 1 : 1 / zero", "1"},
      {"0 ? 1 : 0 ? 2 : 3", "3"},
      {"min(3, 1, 2)", "1"},
      {"max(3, n)", "1000"},
      {"ceil_div(n, block)", "4"},
      {"ceil_div(-7, 2)", "-3"},
      {"align(n, block)", "1024"},
      {"log2(n)", "9"},
      {"log2(1)", "0"},
      {"-big - 1", "-9223372036854775808"},
      {"(-big - 1) % -1", "0"},
  };
  for (const Row& row : rows) EXPECT_EQ(Result(row.text), row.result) << row.text;
}

TEST(Expression, SaysWhyItHasNoValue) {
  const Row rows[] = {
      {"m", "unknown name 'm'"},
      {"1 / zero", "division by zero"},
      {"1 % zero", "division by zero"},
      {"ceil_div(1, zero)", "division by zero"},
      {"big + 1", "overflow of 64 bits"},
      {"-big - 2", "overflow of 64 bits"},
      {"big * 2", "overflow of 64 bits"},
      {"big << 1", "overflow of 64 bits"},
      {"(-big - 1) / -1", "overflow of 64 bits"},
      {"-(-big - 1)", "overflow of 64 bits"},
      {"align(big, 2)", "overflow of 64 bits"},
      {"align(4, -2)", "align to -2"},
      {"1 << 63", "a shift by 63"},
      {"1 >> -1", "a shift by -1"},
      {"log2(0)", "log2 of 0"},
  };
  for (const Row& row : rows) EXPECT_EQ(Result(row.text), row.result) << row.text;
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  const Row rows[] = {
      {"", "ends too early: expected a number, a name or '(' at column 1"},
      {"1 +", "ends too early: expected a number, a name or '(' at column 4"},
      {"(1", "expected ')' at column 3"},
      {"1 2", "unexpected '2' at column 3"},
      {"1.5", "unexpected '.' at column 2"},
      {"12ab", "not an integer at column 1"},
      {"0x", "not an integer at column 1"},
      {"1_", "not an integer at column 1"},
      {"9223372036854775808", "a number beyond 2^63 - 1 at column 1"},
      {"floor(1)", "no function 'floor' at column 1"},
      {"min", "'min' wants arguments at column 1"},
      {"1 ? 2", "expected ':' of c ? a : b at column 6"},
      {"n = 1", "unexpected '=' at column 3"},
      {"n\n", "unexpected '\\x0A' at column 2"},
      {"n & 1", "unexpected '&' at column 3"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(Result(row.text), std::string("bad: ") + row.result) << row.text;
  }
  EXPECT_THAT(Result("min(1)"), HasSubstr("min takes 2 or more arguments, not 1"));
  EXPECT_THAT(Result("log2(1, 2)"), HasSubstr("log2 takes 1 arguments, not 2"));
}

TEST(Expression, LengthAndDepthAreBounded) {
  EXPECT_EQ(Result(std::string(1025, '1')), "bad: longer than 1024 bytes");
  EXPECT_EQ(Result(std::string(63, '(') + "1" + std::string(63, ')')), "1");
  EXPECT_THAT(Result(std::string(64, '(') + "1" + std::string(64, ')')), HasSubstr("64 deep"));
  EXPECT_THAT(Result(std::string(65, '-') + "1"), HasSubstr("64 signs"));
  std::string sum = "1", choice;
  for (int i = 1; i < 512; ++i) sum += "+1";
  for (int i = 0; i < 70; ++i) choice += "1?2:";
  EXPECT_EQ(Result(sum), "512");
  EXPECT_THAT(Result(choice + "3"), HasSubstr("64 deep"));
}

TEST(Expression, NamesAreToldInOrder) {
  const std::optional<Expression> parsed = Expression::Parse("b + min(a, b, 3) * _c");
  ASSERT_TRUE(parsed);
  EXPECT_THAT(parsed->names(), ElementsAre("b", "a", "_c"));
  EXPECT_TRUE(Expression(7).names().empty());
  EXPECT_EQ(Expression().Evaluate({}), 0);
}

TEST(IsSpecName, IsAnIdentifierThatIsNoFunction) {
  for (const char* good : {"x", "rows_2", "N"}) EXPECT_TRUE(IsSpecName(good)) << good;
  for (const char* bad : {"", "2x", "_x", "a-b", "a.b", "../x", "min", "log2", "\xc3\xa4"}) {
    EXPECT_FALSE(IsSpecName(bad)) << bad;
  }
  EXPECT_FALSE(IsSpecName(std::string(65, 'a')));
}

TEST(ParseDtype, ReadsOurNamesAndThoseOfFrameworks) {
  for (const char* name : {"f64", "f32", "f16", "bf16", "i64", "i32", "u32", "i8", "u8"}) {
    const std::optional<Dtype> dtype = ParseDtype(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_STREQ(DtypeName(*dtype), name);
  }
  EXPECT_EQ(ParseDtype("bfloat16"), Dtype::kBf16);
  EXPECT_EQ(DtypeBytes(Dtype::kF16), 2);
  EXPECT_EQ(ParseDtype("f8"), std::nullopt);
  EXPECT_EQ(ParseDtype(""), std::nullopt);
}

}  // namespace
}  // namespace kb
