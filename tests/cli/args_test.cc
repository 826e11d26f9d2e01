#include "cli/args.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/help.h"
#include "cli/raw_args.h"

namespace kb {
namespace {

using Strings = std::vector<std::string>;

Invocation Parse(const Strings& argv) { return ParseCommandLine(argv); }

TEST(CommandLine, FindsCommandsOptionsAndWords) {
  const Invocation line = Parse({"search", "warp", "shuffle", "--arch", "sm_90", "--kind=skill",
                                 "--kind", "nnk", "-k", "5", "--json", "reduction"});
  ASSERT_EQ(line.error, "");
  ASSERT_NE(line.command, nullptr);
  EXPECT_STREQ(line.command->name, "search");
  EXPECT_EQ(line.args.All("QUERY"), (Strings{"warp", "shuffle", "reduction"}));
  EXPECT_EQ(line.args.All("--kind"), (Strings{"skill", "nnk"}));
  EXPECT_EQ(line.args.Get("--arch"), "sm_90");
  EXPECT_EQ(line.args.GetInt("-k", 10), 5);
  EXPECT_TRUE(line.args.Has("--json"));
  EXPECT_FALSE(line.args.Has("--explain"));
  EXPECT_EQ(line.args.GetInt("--budget", 7), 7);
}

TEST(CommandLine, TakesGlobalOptionsOnBothSides) {
  for (const Strings& argv : {Strings{"--kb-dir", "x", "status", "--quiet"},
                              Strings{"--quiet", "status", "--kb-dir=x"}}) {
    const Invocation line = Parse(argv);
    ASSERT_EQ(line.error, "");
    EXPECT_EQ(line.args.Get("--kb-dir"), "x");
    EXPECT_TRUE(line.args.Has("--quiet"));
  }
  EXPECT_EQ(Parse({"--kb-dir", "x", "status", "--kb-dir", "y"}).error,
            "kb status: --kb-dir is given twice (kb status --help)");
}

TEST(CommandLine, FindsCommandsOfTwoWords) {
  const Invocation line = Parse({"eval", "retrieval", "--queries", "q.jsonl", "--gate"});
  ASSERT_EQ(line.error, "");
  EXPECT_STREQ(line.command->name, "eval retrieval");
}

TEST(CommandLine, KeepsWordsAsTheyAre) {
  struct {
    Strings argv;
    Strings words;
  } const cases[] = {
      {{"search", "index", "search"}, {"index", "search"}},  // names of commands
      {{"search", "help"}, {"help"}},
      {{"search", "[a,b]", "{x}"}, {"[a,b]", "{x}"}},
      {{"search", "c", "++", "operator"}, {"c", "++", "operator"}},
      {{"search", "--", "--use_fast_math", "-k"}, {"--use_fast_math", "-k"}},
      {{"search", "a", "--", "b", "--", "c"}, {"a", "b", "--", "c"}},
      {{"search", "-"}, {"-"}},
      {{"search", "a=b", "\"quoted\"", "tab\there"}, {"a=b", "\"quoted\"", "tab\there"}},
      {{"search", "größe", "\xff"}, {"größe", "\xff"}},
      {{"get", "a#b"}, {}},
  };
  for (const auto& c : cases) {
    const Invocation line = Parse(c.argv);
    EXPECT_EQ(line.error, "");
    EXPECT_EQ(line.args.All("QUERY"), c.words);
  }
  EXPECT_EQ(Parse({"get", "[a,b].md"}).args.Get("DOCUMENT"), "[a,b].md");
  EXPECT_EQ(Parse({"search", "x", "--tag", "[a,b]", "--tag", "++"}).args.All("--tag"),
            (Strings{"[a,b]", "++"}));
}

TEST(CommandLine, SaysWhatIsWrongInOneLineWithItsMend) {
  struct {
    Strings argv;
    const char* error;
  } const cases[] = {
      {{"serach", "x"}, "kb: unknown command 'serach'; did you mean search? (kb help)"},
      {{"zzzzz"}, "kb: unknown command 'zzzzz' (kb help)"},
      {{"--jsno", "status"},
       "kb: unknown option --jsno; a word that begins with - goes after -- (kb help)"},
      {{"--colour", "never"}, "kb: unknown option --colour; did you mean --color? (kb help)"},
      {{"eval"}, "kb: 'eval' is not a whole command; it goes on: retrieval, diff (kb help)"},
      {{"eval", "retreival"},
       "kb: unknown command 'eval retreival'; did you mean eval retrieval? (kb help)"},
      {{"search", "x", "--archh", "sm_90"},
       "kb search: unknown option --archh; did you mean --arch? (kb search --help)"},
      {{"search", "x", "--archh=sm_90"},
       "kb search: unknown option --archh; did you mean --arch? (kb search --help)"},
      {{"search", "x", "--varient", "full"},
       "kb search: unknown option --varient; did you mean --variant? (kb search --help)"},
      {{"search", "x", "--expl"},
       "kb search: unknown option --expl; did you mean --explain? (kb search --help)"},
      {{"search", "x", "-n", "3"},
       "kb search: unknown option -n; a word that begins with - goes after -- (kb search --help)"},
      {{"search", "--use_fast_math"},
       "kb search: unknown option --use_fast_math; a word that begins with - goes after -- (kb "
       "search --help)"},
      {{"search"}, "kb search: needs QUERY (kb search --help)"},
      {{"search", ""}, "kb search: QUERY is empty (kb search --help)"},
      {{"search", " \t"}, "kb search: QUERY is empty (kb search --help)"},
      {{"search", "x", "--arch"}, "kb search: --arch needs a value (kb search --help)"},
      {{"search", "x", "--arch", "--json"},
       "kb search: --arch needs a value, not '--json' (kb search --help)"},
      {{"search", "x", "--arch="}, "kb search: --arch needs a value (kb search --help)"},
      {{"search", "x", "--arch", ""}, "kb search: --arch is empty (kb search --help)"},
      {{"search", "x", "--arch", "a", "--arch", "b"},
       "kb search: --arch is given twice (kb search --help)"},
      {{"search", "x", "-k", "-5"},
       "kb search: -k takes a whole number from 1 to 1000, not '-5' (kb search --help)"},
      {{"search", "x", "-k", "0"},
       "kb search: -k takes a whole number from 1 to 1000, not '0' (kb search --help)"},
      {{"search", "x", "-k", "1001"},
       "kb search: -k takes a whole number from 1 to 1000, not '1001' (kb search --help)"},
      {{"search", "x", "-k", "99999999999999999999"},
       "kb search: -k takes a whole number from 1 to 1000, not '99999999999999999999' (kb search "
       "--help)"},
      {{"search", "x", "-k", "5x"},
       "kb search: -k takes a whole number from 1 to 1000, not '5x' (kb search --help)"},
      {{"search", "x", "-k5.0"},
       "kb search: -k takes a whole number from 1 to 1000, not '5.0' (kb search --help)"},
      {{"search", "x", "-k"}, "kb search: -k needs a value (kb search --help)"},
      {{"search", "x", "--kind", "skil"},
       "kb search: --kind takes skill|trace|nnk|page, not 'skil'; did you mean skill? (kb search "
       "--help)"},
      {{"search", "x", "--json=no"}, "kb search: --json takes no value (kb search --help)"},
      {{"search", "x", "--json=false"}, "kb search: --json takes no value (kb search --help)"},
      {{"get", "a", "b"}, "kb get: takes no further word 'b' (kb get --help)"},
      {{"status", "now"}, "kb status: takes no further word 'now' (kb status --help)"},
      {{"get", "a", "-k", "3"},
       "kb get: unknown option -k; a word that begins with - goes after -- (kb get --help)"},
      {{"--color", "blue", "status"}, "kb: --color takes auto|always|never, not 'blue' (kb help)"},
  };
  for (const auto& c : cases) {
    const Invocation line = Parse(c.argv);
    EXPECT_EQ(line.error, c.error);
    EXPECT_EQ(line.error.find('\n'), std::string::npos);
  }
}

TEST(CommandLine, GivesHelpWhereverItIsAskedFor) {
  for (const Strings& argv :
       {Strings{"help", "search"}, Strings{"search", "--help"}, Strings{"search", "-h"},
        Strings{"search", "x", "--archh", "--help"}, Strings{"--help", "search"}}) {
    const Invocation line = Parse(argv);
    EXPECT_TRUE(line.help);
    ASSERT_NE(line.command, nullptr);
    EXPECT_STREQ(line.command->name, "search");
  }
  EXPECT_TRUE(Parse({"--help"}).help);
  EXPECT_TRUE(Parse({"help"}).help);
  EXPECT_TRUE(Parse({"--version"}).version);
  EXPECT_STREQ(Parse({"help", "eval", "retrieval"}).command->name, "eval retrieval");
  EXPECT_EQ(Parse({"help", "serach"}).error,
            "kb: unknown command 'serach'; did you mean search? (kb help)");
}

TEST(CommandTable, IsWhole) {
  std::set<std::string> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_NE(command.run, nullptr);
    EXPECT_EQ(std::string(command.example).find(std::string("kb ") + command.name), 0u);
    std::set<std::string> options;
    bool repeatable = false;
    for (const Option& option : command.options) {
      EXPECT_TRUE(options.insert(BareName(option)).second) << command.name << option.name;
      EXPECT_STRNE(option.help, "");
      EXPECT_EQ(option.required && !IsPositional(option), false);
      if (option.type != ArgType::kFlag && !IsPositional(option)) {
        EXPECT_STRNE(option.value_name, "");
      }
      if (IsPositional(option)) {
        EXPECT_FALSE(repeatable) << "nothing follows a repeatable word";
      }
      repeatable = repeatable || (IsPositional(option) && IsRepeatable(option));
    }
    const bool is_server = std::string_view(command.name) == "mcp" ||
                           std::string_view(command.name) == "serve";  // JSON is all they speak
    EXPECT_TRUE(is_server || options.contains("--json")) << command.name;
  }
}

// Splits an example as a shell would: words and double quotes.
Strings ShellWords(const std::string& line) {
  Strings words;
  bool quoted = false, open = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      words.back() += c;
    }
  }
  return words;
}

TEST(CommandTable, ExamplesParse) {
  for (const Command& command : Commands()) {
    Strings words = ShellWords(command.example);
    words.erase(words.begin());  // kb
    const Invocation line = Parse(words);
    EXPECT_EQ(line.error, "") << command.example;
    EXPECT_EQ(line.command, &command);
  }
}

void ExpectFitsAScreen(const std::string& text) {
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Help, FitsAScreenAndNamesAll) {
  const std::string top = HelpText();
  ExpectFitsAScreen(top);
  for (const Command& command : Commands()) {
    const std::string name = command.name;
    const std::string group = name.substr(0, name.find(' '));
    const bool named = top.find("kb " + name + " ") != std::string::npos;
    const bool grouped = top.find("kb " + group + " ...") != std::string::npos &&
                         GroupHelp(group).find(name) != std::string::npos;
    EXPECT_TRUE(named || grouped) << name;
    const std::string text = CommandHelp(command);
    ExpectFitsAScreen(text);
    for (const Option& option : command.options) {
      EXPECT_NE(text.find(BareName(option)), std::string::npos) << option.name;
    }
    EXPECT_NE(text.find(command.example), std::string::npos);
  }
}

TEST(Nearest, SuggestsOnlyWhatIsNear) {
  const Strings known = {"search", "status", "index", "get", "context", "embedder"};
  struct {
    const char* word;
    const char* nearest;
  } const cases[] = {
      {"serach", "search"},  // two neighbours swapped count as one
      {"search", "search"},
      {"statu", "status"},
      {"sttaus", "status"},
      {"gte", "get"},
      {"gt", "get"},
      {"inedx", "index"},
      {"contxet", "context"},
      {"emb", "embedder"},
      {"s", ""},
      {"xyzzy", ""},
      {"", ""},
      {"got", "get"},
      {"abc", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(Nearest(c.word, known), c.nearest) << c.word;
  EXPECT_EQ(Nearest(std::string(100000, 'a'), known), "");
}

class FindKbDirTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("KB_DIR");
    std::filesystem::create_directories(root_ / "a/b");
    std::filesystem::current_path(root_ / "a/b");
  }
  void TearDown() override {
    unsetenv("KB_DIR");
    std::filesystem::current_path(old_);
    std::filesystem::remove_all(root_);
  }
  std::filesystem::path old_ = std::filesystem::current_path();
  std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) / ("kb_dir_test_" + std::to_string(getpid()));
};

TEST_F(FindKbDirTest, PrefersTheOptionThenTheEnvironmentThenTheNearest) {
  Args args;
  EXPECT_EQ(FindKbDir(args), ".kb");
  std::filesystem::create_directory(root_ / ".kb");
  EXPECT_EQ(FindKbDir(args), "../../.kb");
  std::filesystem::create_directory(root_ / "a/.kb");
  EXPECT_EQ(FindKbDir(args), "../.kb");
  setenv("KB_DIR", "/elsewhere", 1);
  EXPECT_EQ(FindKbDir(args), "/elsewhere");
  args.Add("--kb-dir", "mine");
  EXPECT_EQ(FindKbDir(args), "mine");
}

}  // namespace
}  // namespace kb
