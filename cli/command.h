// The command table: one row a command. It feeds dispatch, --help, suggestions and the MCP
// tools' names, help and schemas.
#pragma once

#include <iosfwd>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

inline constexpr const char kVersion[] = "0.1.0";

enum class ArgType { kFlag, kString, kInt, kPath };

// One option ("--arch", "-k") or positional ("QUERY"). "..." at the end: repeatable.
struct Option {
  const char* name = "";
  ArgType type = ArgType::kFlag;
  const char* value_name = "";  // shown in help, e.g. "ARCH" or "skill|trace|nnk"
  const char* help = "";        // one line
  bool required = false;        // positionals only
  const char* choices = "";     // "a|b|c": nothing else is taken
  const char* fallback = "";    // shown in help as the default
  int low = 0;                  // kInt: the smallest and the largest that is taken
  int high = std::numeric_limits<int>::max();
};

// Parsed arguments by option name ("--kind", "QUERY"), in the order given.
class Args {
 public:
  [[nodiscard]] bool Has(std::string_view name) const;
  // The first value.
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
  bool out_is_terminal = false;   // tables that fit `columns`
  bool talk_is_terminal = false;  // progress bars
  int columns = 80;
  bool color = false;  // escape sequences on `out`: terminal, NO_COLOR, --color
  bool quiet = false;  // --quiet: no progress and no notes on `talk`
};

enum ExitCode { kFound = 0, kNothing = 1, kCouldNot = 2 };

struct Command {
  const char* name;     // "search" or "eval retrieval"
  const char* summary;  // one line
  const char* example;  // one command line that works
  const char* exits;    // what the exit codes mean here
  std::span<const Option> options;
  int (*run)(const Args& args, Streams& streams);
  const char* tool = "";        // its name as an MCP tool; "": it is none
  const char* tool_title = "";  // for people who look at a list of tools
  const char* tool_use = "";    // when an agent should call it, and what it gets
  const char* tool_hides = "";  // options that only a shell needs: "--json --format"
};

// All commands, in the order of the help.
[[nodiscard]] std::span<const Command> Commands();

// Options that every command takes, before or after its name.
[[nodiscard]] std::span<const Option> GlobalOptions();

// Parses the words after "kb" and runs. Never throws; errors go to `streams.talk` as one line.
[[nodiscard]] int RunMain(std::span<const std::string> argv, Streams& streams);

// The word of `known` nearest to `word`: edit distance (insert, delete, replace, swap
// neighbours) at most a third of its length and at least 1 allowed; else the only one that
// begins with it; else "". The first of equals.
[[nodiscard]] std::string Nearest(std::string_view word, std::span<const std::string> known);

// The `.kb` folder to use: --kb-dir, else KB_DIR, else the nearest one at or above the
// working folder, else "./.kb".
[[nodiscard]] std::string FindKbDir(const Args& args);

}  // namespace kb
