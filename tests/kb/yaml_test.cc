#include "kb/yaml.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kb/json.h"
#include "kb/lenient_yaml.h"

namespace kb {
namespace {

Value Parse(std::string_view text) {
  YamlError error;
  const std::optional<Value> value = ParseYaml(text, 0, &error);
  EXPECT_TRUE(value) << text << ": " << error.message;
  return value.value_or(Value());
}

TEST(ParseYaml, PlainScalarsHaveTheCoreSchema) {
  const struct {
    const char* text;
    Value value;
  } cases[] = {
      {"~", Value()},
      {"null", Value()},
      {"true", Value(true)},
      {"False", Value(false)},
      {"yes", Value("yes")},
      {"12", Value(12)},
      {"-12", Value(-12)},
      {"+12", Value(12)},
      {"0x1F", Value(31)},
      {"0o17", Value(15)},
      {"017", Value(17)},
      {"1.50", Value(1.5)},
      {".5", Value(0.5)},
      {"5.", Value(5.0)},
      {"1e3", Value(1000.0)},
      {"-4.9e-4", Value(-4.9e-4)},
      {"1_000", Value("1_000")},
      {"1.2.3", Value("1.2.3")},
      {"--1", Value("--1")},
      {"+-1", Value("+-1")},
      {"0x-1", Value("0x-1")},
      {"'12'", Value("12")},
      {"\"\\u00e9\"", Value("é")},
      {"!!str 12", Value("12")},
      {"2026-11-30", Value("2026-11-30")},
      {"1e999", Value("1e999")},
      {"9223372036854775808", Value(9223372036854775808.0)},
      {"-.inf", Value(-INFINITY)},
      {"e5", Value("e5")},
      {".", Value(".")},
      {"-", Value(Value::List{Value()})},
  };
  for (const auto& c : cases) EXPECT_EQ(Parse(c.text), c.value) << c.text;
  EXPECT_TRUE(std::isnan(Parse(".nan").AsDouble()));
  EXPECT_TRUE(Parse("").IsNull());
  EXPECT_TRUE(Parse("# only a comment\n").IsNull());
}

TEST(ParseYaml, KeysAreKeptAsWritten) {
  EXPECT_EQ(WriteJson(Parse("1.0: a\ntrue: b\n{x: y}: c\n")),
            R"({"1.0":"a","true":"b","{\"x\":\"y\"}":"c"})");
}

TEST(ParseYaml, LinesAreThoseOfTheTextWhateverEndsThem) {
  for (const char* text : {"a: 1\nb:\n  - x\n  - y\n", "a: 1\r\nb:\r\n  - x\r\n  - y\r\n",
                           "a: 1\rb:\r  - x\r  - y\r"}) {
    const Value value = ParseYaml(text, 10, nullptr).value();
    EXPECT_EQ(value["a"].line(), 11);
    EXPECT_EQ(value["b"].AsList().at(1).line(), 14);
  }
}

TEST(ParseYaml, RefusesWithALine) {
  const struct {
    std::string text;
    int line;
    bool over_limit;
  } cases[] = {
      {"a: 1\nb: c: d\n", 2, false},
      {"a: [1\n", 2, false},
      {"a: 1\nb: \x04\n", 2, false},
      {std::string("a: \0", 4), 1, false},
      {"\xFF\xFE"
       "a: 1",
       1, false},
      {"a: 1\n---\nb: 2\n", 1, false},
      {"a: &x 1\nb: *x\n", 2, false},
      {"a: *nobody\n", 1, false},
      {"a: @x\n", 1, false},
      {std::string(65, '['), 1, true},
  };
  for (const auto& c : cases) {
    YamlError error;
    EXPECT_FALSE(ParseYaml(c.text, 0, &error)) << c.text;
    EXPECT_EQ(error.line, c.line) << c.text << ": " << error.message;
    EXPECT_EQ(error.over_limit, c.over_limit) << c.text;
    EXPECT_FALSE(error.message.empty());
  }
}

TEST(ParseYaml, LimitsAreExact) {
  YamlLimits limits;
  limits.max_nodes = 4;
  EXPECT_TRUE(ParseYaml("[1, 2, 3]", 0, nullptr, limits));
  EXPECT_FALSE(ParseYaml("[1, 2, 3, 4]", 0, nullptr, limits));
  limits = {};
  limits.max_depth = 2;
  EXPECT_TRUE(ParseYaml("[[1]]", 0, nullptr, limits));
  EXPECT_FALSE(ParseYaml("[[[1]]]", 0, nullptr, limits));
  EXPECT_FALSE(ParseYaml(std::string(limits.max_bytes + 1, ' '), 0, nullptr));
}

TEST(ParseYamlLeniently, QuotesWhatIsNoYamlAndKeepsTheRest) {
  const LenientYaml yaml = ParseYamlLeniently(
      "description: Use when: it's slow\nhint: [file] [more]\nalso: `code`\nstar: *bold* text\n"
      "said: \"a\" b\nn: 3\nlist: [1, 2]\nblock: |\n  keep: this: line\nnest:\n  - x: y: z\n",
      0);
  EXPECT_EQ(yaml.how, LenientYaml::How::kQuoted);
  EXPECT_EQ(yaml.error.line, 1);
  EXPECT_EQ(WriteJson(yaml.value),
            R"({"description":"Use when: it's slow","hint":"[file] [more]","also":"`code`",)"
            R"("star":"*bold* text","said":"\"a\" b","n":3,"list":[1,2],)"
            R"("block":"keep: this: line\n","nest":[{"x":"y: z"}]})");
}

TEST(ParseYamlLeniently, ScansKeysWhenQuotingDoesNotHelp) {
  const LenientYaml yaml = ParseYamlLeniently(
      "name: a\ndescription: first: line\n  goes on: here\nmetadata:\n  x: 1\n] stray\nlast: 2\n",
      5);
  EXPECT_EQ(yaml.how, LenientYaml::How::kScanned);
  EXPECT_EQ(yaml.value["name"].AsString(), "a");
  EXPECT_EQ(yaml.value["description"].AsString(), "first: line goes on: here");
  EXPECT_EQ(yaml.value["last"].AsInt(), 2);
  EXPECT_EQ(yaml.value["last"].line(), 12);
  EXPECT_EQ(yaml.value["metadata"].AsString(), "x: 1 ] stray");
}

TEST(ParseYamlLeniently, TabsOfTheIndentationBecomeBlanks) {
  const LenientYaml yaml = ParseYamlLeniently("metadata:\n\tversion: 1\n\tkind: x\n", 0);
  EXPECT_EQ(WriteJson(yaml.value), R"({"metadata":{"version":1,"kind":"x"}})");
}

TEST(ParseYamlLeniently, AHostileTextEndsQuickly) {
  std::string lines;
  for (int i = 0; i < 60000; ++i) lines += "a: [\n";
  EXPECT_LE(ParseYamlLeniently(lines, 0).value.AsMap().size(), 10000u);
  for (const char* unit : {"[",    "{",   "? ",    "- ",     "a: ", "!",   "&a ",
                           "\"",   "|\n", "a:\n ", "? - : ", "'",   "[a,", "{a: b,",
                           "- - ", ": ",  "#",     "%",      "a\n", "\t",  "!!a "}) {
    std::string text;
    while (text.size() < 250000) text += unit;
    static_cast<void>(ParseYamlLeniently(text, 0));
  }
}

TEST(YamlKeyOf, TakesKeysAtColumnZero) {
  const struct {
    const char* line;
    const char* key;
  } cases[] = {
      {"name: x", "name"},
      {"name:", "name"},
      {"allowed-tools: x", "allowed-tools"},
      {"\"a\": b", "a"},
      {" name: x", ""},
      {"http://x", ""},
      {"a b: c", ""},
      {"- a: b", ""},
      {": x", ""},
      {"", ""},
      {"name:\tx", "name"},
  };
  for (const auto& c : cases) EXPECT_EQ(YamlKeyOf(c.line), c.key) << c.line;
}

}  // namespace
}  // namespace kb
