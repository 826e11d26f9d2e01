#include "kb/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace kb {
namespace {

TEST(ParseJson, WhatIsWrittenReadsBackEqual) {
  const char* const cases[] = {
      "null",
      "true",
      "-12",
      "1.0",
      "1e+300",
      R"("a\"b\\c\n\u0001é😀")",
      "[]",
      "{}",
      R"({"z":1,"a":[1,2.5,{"x":null}],"z":2})",
      "9223372036854775807",
      "18446744073709551616",
      R"("\ud83d\ude00")",
  };
  for (const char* text : cases) {
    const std::optional<Value> value = ParseJson(text);
    ASSERT_TRUE(value) << text;
    for (const int indent : {-1, 2}) {
      const std::optional<Value> again = ParseJson(WriteJson(*value, indent));
      ASSERT_TRUE(again) << text;
      EXPECT_EQ(*again, *value) << text;
    }
  }
}

TEST(ParseJson, KeepsTheOrderOfKeysAndTheSpellingOfTypes) {
  const Value value = ParseJson(R"({"b": 1, "a": 1.0})").value();
  EXPECT_EQ(WriteJson(value), R"({"b":1,"a":1.0})");
  EXPECT_EQ(WriteJson(value, 2), "{\n  \"b\": 1,\n  \"a\": 1.0\n}");
  EXPECT_TRUE(ParseJson("18446744073709551615")->IsDouble());
}

TEST(ParseJson, RefusesAndSaysWhy) {
  const std::string deep(65, '[');
  const struct {
    std::string text;
    const char* why;
  } cases[] = {
      {"", "parse error"},        {"{", "parse error"},         {"1 2", "parse error"},
      {"[1,]", "parse error"},    {"nul", "parse error"},       {"'a'", "parse error"},
      {"{\"a\"}", "parse error"}, {"\"\xFF\"", "UTF-8"},        {"NaN", "parse error"},
      {deep, "nested deeper"},    {"1e999", "number overflow"},
  };
  for (const auto& c : cases) {
    std::string why;
    EXPECT_FALSE(ParseJson(c.text, &why)) << c.text;
    EXPECT_NE(why.find(c.why), std::string::npos) << c.text << ": " << why;
    EXPECT_EQ(why.find('\n'), std::string::npos);
    EXPECT_FALSE(ParseJson(c.text));
  }
}

TEST(ParseJson, LimitsAreExact) {
  const std::string deepest = std::string(64, '[') + std::string(64, ']');
  EXPECT_TRUE(ParseJson(deepest));
  EXPECT_FALSE(ParseJson("[" + deepest + "]"));
  EXPECT_TRUE(ParseJson("1234", nullptr, {4, 64}));
  EXPECT_FALSE(ParseJson("12345", nullptr, {4, 64}));
}

TEST(ParseJson, AMillionOpenBracketsEndQuickly) {
  EXPECT_FALSE(ParseJson(std::string(1 << 20, '[')));
  EXPECT_FALSE(ParseJson(std::string(1 << 20, '['), nullptr, {64u << 20, 1 << 21}));
}

TEST(WriteJson, SaysWhatJsonCannotSay) {
  EXPECT_EQ(WriteJson(Value(std::numeric_limits<double>::quiet_NaN())), "null");
  EXPECT_EQ(WriteJson(Value(std::numeric_limits<double>::infinity())), "null");
  EXPECT_EQ(WriteJson(Value("a\xFFz\xC3")), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\"");
  EXPECT_EQ(WriteJson(Value(std::string("\0\x1f\x7f", 3))), R"("\u0000\u001f\u007f")");
}

TEST(WriteJson, EscapesWhatATerminalWouldObeyOrAReaderNotSee) {
  const std::string hidden = "a\xC2\x9B b\xE2\x80\xAE c\xE2\x81\xA6 d\xE2\x80\xA8";
  const std::string json = WriteJson(Value(hidden));
  EXPECT_EQ(json, "\"a\\u009b b\\u202e c\\u2066 d\\u2028\"");
  EXPECT_EQ(ParseJson(json)->AsString(), hidden);
  const std::string plain = "\xC2\xB5s \xE2\x80\x94 \xE2\x82\xAC";  // micro, dash, euro
  EXPECT_EQ(WriteJson(Value(plain)), "\"" + plain + "\"");
}

}  // namespace
}  // namespace kb
