#include "kb/front_matter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kb/json.h"

namespace kb {
namespace {

std::vector<std::string> Rules(const Diagnostics& diagnostics) {
  std::vector<std::string> rules;
  for (const Diagnostic& d : diagnostics) rules.push_back(d.rule);
  return rules;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParseFrontMatter, LoadsEveryDefectOfPublicFiles) {
  const struct {
    const char* what;
    std::string text;
    const char* json;
    const char* body;
    int body_line;
    std::vector<std::string> rules;
  } cases[] = {
      {"plain", "---\na: 1\n---\nB\n", R"({"a":1})", "B\n", 4, {}},
      {"dots end it", "---\na: 1\n...\nB", R"({"a":1})", "B", 4, {}},
      {"BOM", "\xEF\xBB\xBF---\na: 1\n---\nB", R"({"a":1})", "B", 4, {}},
      {"CRLF", "---\r\na: 1\r\n---\r\nB\r\n", R"({"a":1})", "B\r\n", 4, {}},
      {"CR", "---\ra: 1\r---\rB\r", R"({"a":1})", "B\r", 4, {}},
      {"empty", "---\n---\nB", "{}", "B", 3, {}},
      {"blank", "---\n\n---\nB", "{}", "B", 4, {}},
      {"flow style", "---\n{a: 1, b: [x, y]}\n---\n", R"({"a":1,"b":["x","y"]})", "", 4, {}},
      {"nested", "---\nm: {k: {d: v}}\n---\n", R"({"m":{"k":{"d":"v"}}})", "", 4, {}},
      {"--- inside the body", "---\na: 1\n---\nx\n---\ny\n", R"({"a":1})", "x\n---\ny\n", 4, {}},
      {"--- inside a value",
       "---\na: x --- y\nb: ---z\n---\nB",
       R"({"a":"x --- y","b":"---z"})",
       "B",
       5,
       {}},
      {"four dashes end nothing",
       "---\na: |\n  x\n  ----\n---\nB",
       R"({"a":"x\n----\n"})",
       "B",
       6,
       {}},
      {"blanks after the end", "---\na: 1\n--- \nB", R"({"a":1})", "B", 4, {"front-matter-end"}},
      {"comment before",
       "<!-- c\n d -->\n\n---\na: 1\n---\nB",
       R"({"a":1})",
       "B",
       7,
       {"front-matter-leading"}},
      {"unquoted colon",
       "---\na: 1\nd: Use when: now\n---\nB",
       R"({"a":1,"d":"Use when: now"})",
       "B",
       5,
       {"front-matter-yaml"}},
      {"stray bracket",
       "---\na: 1\n] x\nb: 2\n---\nB",
       R"({"a":"1 ] x","b":2})",
       "B",
       6,
       {"front-matter-yaml"}},
      {"alias", "---\na: &x 1\nb: *x\n---\n", R"({"a":1,"b":"*x"})", "", 5, {"front-matter-yaml"}},
      {"NUL",
       std::string("---\na: x\0y\nb: 2\n---\nB", 21),
       R"({"a":"x\u0000y","b":2})",
       "B",
       5,
       {"front-matter-yaml"}},
      {"repeated key",
       "---\na: 1\na: 2\na: 3\n---\n",
       R"({"a":1,"a":2,"a":3})",
       "",
       6,
       {"front-matter-duplicate"}},
      {"unterminated, blank line",
       "---\na: 1\nb: x\n\n# T\n\nNote: y\n",
       R"({"a":1,"b":"x"})",
       "# T\n\nNote: y\n",
       5,
       {"front-matter-unterminated"}},
      {"unterminated, heading",
       "---\na: |\n  x\n\n  y\n# T\n",
       R"({"a":"x\n\ny\n"})",
       "# T\n",
       6,
       {"front-matter-unterminated"}},
      {"unterminated to the end", "---\na: 1", R"({"a":1})", "", 3, {"front-matter-unterminated"}},
      {"the end line is the file's last", "---\na: 1\n---", R"({"a":1})", "", 4, {}},
  };
  for (const auto& c : cases) {
    Diagnostics diagnostics;
    const FrontMatter front = ParseFrontMatter(c.text, "p.md", &diagnostics);
    EXPECT_TRUE(front.present) << c.what;
    EXPECT_EQ(WriteJson(front.value), c.json) << c.what;
    EXPECT_EQ(front.body, c.body) << c.what;
    EXPECT_EQ(front.body_line, c.body_line) << c.what;
    EXPECT_EQ(Rules(diagnostics), c.rules) << c.what;
  }
}

TEST(ParseFrontMatter, LeavesOtherTextsAlone) {
  const struct {
    const char* what;
    std::string text;
    std::vector<std::string> rules;
  } cases[] = {
      {"empty file", "", {}},
      {"no front matter", "# T\n---\na: 1\n---\n", {}},
      {"indented", " ---\na: 1\n---\n", {}},
      {"a thematic break first", "---\n\n# Title\n\ntext\n---\nmore: text\n", {}},
      {"a lone break", "---", {}},
      {"a break and text", "---\nSome text\n", {}},
      {"a comment only", "<!-- x -->\n", {}},
      {"a comment that does not end", "<!-- x\n---\na: 1\n---\n", {}},
      {"text after a comment", "<!-- x --> y\n---\na: 1\n---\n", {}},
      {"a flow list in braces", "---\n{a\n---\n", {"front-matter-map"}},
  };
  for (const auto& c : cases) {
    Diagnostics diagnostics;
    const FrontMatter front = ParseFrontMatter(c.text, "p.md", &diagnostics);
    EXPECT_FALSE(front.present) << c.what;
    EXPECT_TRUE(front.value.IsMap()) << c.what;
    EXPECT_EQ(front.body, c.text) << c.what;
    EXPECT_EQ(front.body_line, 1) << c.what;
    EXPECT_EQ(Rules(diagnostics), c.rules) << c.what;
  }
}

TEST(ParseFrontMatter, LinesAreThoseOfTheFile) {
  Diagnostics diagnostics;
  const FrontMatter front =
      ParseFrontMatter("<!-- x -->\n---\na: 1\nb:\n  c: d: e\n---\n", "dir/p.md", &diagnostics);
  EXPECT_EQ(front.value["a"].line(), 3);
  EXPECT_EQ(front.value["b"]["c"].line(), 5);
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].line, 5);
  EXPECT_EQ(diagnostics[0].path, "dir/p.md");
}

TEST(ParseFrontMatter, RawIsTheYamlTextItself) {
  const std::string text = "---\r\na: 1\r\nb: 2\r\n---\r\nbody";
  const FrontMatter front = ParseFrontMatter(text, "p.md", nullptr);
  EXPECT_EQ(front.raw, "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(front.raw.data(), text.data() + 5);
}

TEST(ParseFrontMatter, OverALimitItIsScanned) {
  std::string text = "---\nname: big\nlist:\n";
  for (int i = 0; i < 10000; ++i) text += "- x\n";
  text += "last: 1\n---\nB";
  Diagnostics diagnostics;
  const FrontMatter front = ParseFrontMatter(text, "p.md", &diagnostics);
  EXPECT_EQ(front.value["name"].ToText(), "big");
  EXPECT_EQ(front.value["last"].ToText(), "1");
  EXPECT_EQ(front.body, "B");
  EXPECT_THAT(Rules(diagnostics), ElementsAre("front-matter-limit"));

  text = "---\nname: bigger\nd: " + std::string(300 << 10, 'x') + "\n---\nB";
  diagnostics.clear();
  EXPECT_EQ(ParseFrontMatter(text, "p.md", &diagnostics).value["name"].ToText(), "bigger");
  EXPECT_THAT(Rules(diagnostics), ElementsAre("front-matter-limit"));
}

TEST(ParseFrontMatter, HostileTextsEndQuickly) {
  for (const char* unit :
       {"---x\n", "<!--\n", "<!-- -->\n", "a: b: c\n", "a:\n", "\n", "- ", "{"}) {
    std::string text = "---\n";
    if (unit[0] == '<') text.clear();
    while (text.size() < (4u << 20)) text += unit;
    static_cast<void>(ParseFrontMatter(text, "p.md", nullptr));
    text += "\n---\n";
    static_cast<void>(ParseFrontMatter(text, "p.md", nullptr));
  }
}

// yaml-cpp takes the rest of the text for the value and reports nothing.
TEST(ParseFrontMatter, AQuoteThatIsNeverClosedIsAFindingAndSwallowsNothing) {
  const std::string text = "---\ndescription: \"never closed\nname: uq\nlicense: MIT\n---\n# T\n";
  Diagnostics diagnostics;
  const FrontMatter front = ParseFrontMatter(text, "f.md", &diagnostics);
  EXPECT_EQ(front.value["name"].AsString(), "uq");
  EXPECT_EQ(front.value["license"].AsString(), "MIT");
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].rule, "front-matter-yaml");
  EXPECT_EQ(diagnostics[0].line, 2);
}

}  // namespace
}  // namespace kb
