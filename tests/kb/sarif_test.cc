#include "kb/sarif.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/json.h"
#include "kb/lint.h"

namespace kb {
namespace {

Diagnostics Sample() {
  return {
      {Severity::kBlock, "safety-bidi", "./skills/a b/SKILL.md", 3, "bidi \xFF\n\"x\"", "remove"},
      {Severity::kWarning, "link-broken", "x/\xC3\xA9%.md", 0, "no file", ""},
      {Severity::kNote, "text-bom", "/abs/y.md", 1, "a mark", "save"},
      {Severity::kError, "safety-bidi", "c:d.md", 9, "again", "remove"},
      {Severity::kError, "not-in-the-table", "", 0, "", ""}};
}

Value Parsed(const Diagnostics& diagnostics) {
  std::string why;
  const std::optional<Value> log = ParseJson(WriteSarif(diagnostics, "1.2.3"), &why);
  EXPECT_TRUE(log) << why;
  return log.value_or(Value());
}

// What the OASIS schema of 2.1.0 requires of what we write.
TEST(WriteSarif, HasWhatTheSchemaRequires) {
  const Value log = Parsed(Sample());
  EXPECT_EQ(log["version"].AsString(), "2.1.0");
  EXPECT_EQ(log["$schema"].AsString(),
            "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
            "sarif-schema-2.1.0.json");
  ASSERT_EQ(log["runs"].AsList().size(), 1u);
  const Value& run = log["runs"].AsList()[0];
  EXPECT_EQ(run["tool"]["driver"]["name"].AsString(), "kb");
  EXPECT_EQ(run["tool"]["driver"]["version"].AsString(), "1.2.3");
  ASSERT_EQ(run["results"].AsList().size(), 5u);
  const Value::List& rules = run["tool"]["driver"]["rules"].AsList();
  for (const Value& result : run["results"].AsList()) {
    EXPECT_TRUE(result["message"]["text"].IsString());
    const std::string& level = result["level"].AsString();
    EXPECT_TRUE(level == "note" || level == "warning" || level == "error") << level;
    const auto index = static_cast<size_t>(result["ruleIndex"].AsInt(-1));
    ASSERT_LT(index, rules.size());
    EXPECT_EQ(rules[index]["id"].AsString(), result["ruleId"].AsString());
  }
}

TEST(WriteSarif, ListsEachRuleOnceWithItsLevel) {
  const Value log = Parsed(Sample());
  const Value::List& rules = log["runs"].AsList()[0]["tool"]["driver"]["rules"].AsList();
  ASSERT_EQ(rules.size(), 4u);
  for (const Value& rule : rules) {
    const Rule* known = FindRule(rule["id"].AsString());
    if (known == nullptr) continue;
    EXPECT_EQ(rule["shortDescription"]["text"].AsString(), known->summary);
    EXPECT_EQ(rule["help"]["text"].AsString(), known->mend);
  }
  EXPECT_EQ(rules[2]["id"].AsString(), "safety-bidi");
  EXPECT_EQ(rules[2]["defaultConfiguration"]["level"].AsString(), "error");
  EXPECT_EQ(rules[2]["properties"]["tags"].AsList()[0].AsString(), "security");
}

TEST(WriteSarif, PathsAreEncodedAndLineZeroHasNoRegion) {
  struct Expected {
    const char* uri;
    int64_t line;
  };
  const Expected expected[] = {{"skills/a%20b/SKILL.md", 3},
                               {"x/%C3%A9%25.md", 0},
                               {"file:///abs/y.md", 1},
                               {"c%3Ad.md", 9}};
  const Value log = Parsed(Sample());
  const Value::List& results = log["runs"].AsList()[0]["results"].AsList();
  for (size_t i = 0; i < std::size(expected); ++i) {
    ASSERT_EQ(results[i]["locations"].AsList().size(), 1u);
    const Value& where = results[i]["locations"].AsList()[0]["physicalLocation"];
    EXPECT_EQ(where["artifactLocation"]["uri"].AsString(), expected[i].uri);
    EXPECT_EQ(where["region"]["startLine"].AsInt(), expected[i].line);
    EXPECT_EQ(where.Has("region"), expected[i].line > 0);
  }
  EXPECT_TRUE(results[4]["locations"].AsList().empty());
}

TEST(WriteSarif, WritesTheSameBytesAndARunWithoutFindings) {
  EXPECT_EQ(WriteSarif(Sample(), "1"), WriteSarif(Sample(), "1"));
  const Value log = Parsed({});
  EXPECT_TRUE(log["runs"].AsList()[0]["results"].IsList());
  EXPECT_TRUE(log["runs"].AsList()[0]["results"].AsList().empty());
}

}  // namespace
}  // namespace kb
