// The command table: one row a command. It feeds dispatch, --help, suggestions and, later,
// the MCP tools' names, help and schemas.
#pragma once

#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

enum class ArgType { kFlag, kString, kInt, kPath };

// One option ("--arch") or positional ("QUERY", "PATH...": repeatable).
struct Option {
  const char* name;             // "--kind" or "QUERY"; "..." at the end: repeatable
  ArgType type;
  const char* value_name;       // shown in help, e.g. "skill|trace|nnk"
  const char* help;             // one line
  bool required = false;        // positionals only
  const char* choices = "";     // "a|b|c": nothing else is taken
  const char* fallback = "";    // shown in help as the default
};

// Parsed arguments by option name ("--kind", "QUERY").
class Args {
 public:
  [[nodiscard]] bool Has(std::string_view name) const;
  [[nodiscard]] std::string Get(std::string_view name, std::string_view fallback = "") const;
  [[nodiscard]] int GetInt(std::string_view name, int fallback) const;
  [[nodiscard]] std::vector<std::string> All(std::string_view name) const;
  void Add(std::string name, std::string value);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// Where a command writes. stdout is data, stderr is talk.
struct Streams {
  std::ostream& out;
  std::ostream& talk;
  bool out_is_terminal = false;   // colours and tables that fit `columns`
  bool talk_is_terminal = false;  // progress bars
  int columns = 80;
};

enum ExitCode { kFound = 0, kNothing = 1, kCouldNot = 2 };

struct Command {
  const char* name;             // "search" or "eval retrieval"
  const char* summary;          // one line
  const char* example;          // one command line that works
  std::span<const Option> options;
  int (*run)(const Args& args, Streams& streams);
};

// All commands, in the order of the help.
[[nodiscard]] std::span<const Command> Commands();

// Parses argv and runs. Never throws; errors go to `streams.talk` as one line.
[[nodiscard]] int RunMain(std::span<const std::string> argv, Streams& streams);

// The word of `known` nearest to `word` (edit distance at most a third of it), or "".
[[nodiscard]] std::string Nearest(std::string_view word, std::span<const std::string> known);

// The `.kb` folder to use: --kb-dir, else KB_DIR, else the nearest one at or above the
// working folder, else "./.kb".
[[nodiscard]] std::string FindKbDir(const Args& args);

}  // namespace kb
