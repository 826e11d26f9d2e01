#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "cli/args.h"
#include "cli/help.h"
#include "cli/raw_args.h"

namespace kb {
namespace {

constexpr Option kHelp = {"--help", ArgType::kFlag, "", "this text"};
constexpr Option kVersionFlag = {"--version", ArgType::kFlag, "", "the version of kb"};

std::string Quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

// "kb search: WHAT (kb search --help)", the form of every complaint about a command line.
std::string Complaint(const Command* command, const std::string& what) {
  if (command == nullptr) return "kb: " + what + " (kb help)";
  const std::string name = std::string("kb ") + command->name;
  return name + ": " + what + " (" + name + " --help)";
}

std::string DidYouMean(const std::string& word, const Words& known, const char* if_none) {
  const std::string nearest = Nearest(word, known);
  return nearest.empty() ? if_none : "; did you mean " + nearest + "?";
}

std::string UnknownOption(const std::string& word, std::span<const Option* const> options) {
  const std::string name = word.substr(0, word.find('='));
  const std::string bare = name.substr(std::min(name.size(), name.find_first_not_of('-')));
  Words known;
  for (const Option* option : options) {
    if (!IsPositional(*option)) known.push_back(BareName(*option).substr(1));
  }
  for (std::string& candidate : known) candidate.erase(0, candidate.starts_with("-") ? 1 : 0);
  const std::string nearest = bare.size() < 2 ? "" : Nearest(bare, known);
  if (nearest.empty()) {
    return "unknown option " + name + "; a word that begins with - goes after --";
  }
  return "unknown option " + name + "; did you mean --" + nearest + "?";
}

std::string CheckChoice(const Option& option, const std::string& value) {
  Words choices;
  std::string_view rest = option.choices;
  while (!rest.empty()) {
    const size_t bar = std::min(rest.find('|'), rest.size());
    choices.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return "";
  return BareName(option) + " takes " + option.choices + ", not " + Quoted(value) +
         DidYouMean(value, choices, "");
}

std::string CheckInt(const Option& option, const std::string& value) {
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && stop == end && number >= option.low && number <= option.high) {
    return "";
  }
  return BareName(option) + " takes a whole number from " + std::to_string(option.low) + " to " +
         std::to_string(option.high) + ", not " + Quoted(value);
}

// "" or what is wrong with the values of one option.
std::string Check(const Option& option, const Words& values) {
  if (option.type == ArgType::kFlag) return "";
  if (values.size() > 1 && !IsRepeatable(option)) {
    return BareName(option) + " is given twice";
  }
  for (const std::string& value : values) {
    std::string wrong;
    if (value.find_first_not_of(" \t\r\n") == std::string::npos) {
      wrong = BareName(option) + " is empty";
    } else if (!IsPositional(option) && value.starts_with("--")) {  // CLI11 takes anything
      wrong = BareName(option) + " needs a value, not " + Quoted(value);
    } else if (option.type == ArgType::kInt) {
      wrong = CheckInt(option, value);
    } else if (option.choices[0] != '\0') {
      wrong = CheckChoice(option, value);
    }
    if (!wrong.empty()) return wrong;
  }
  return "";
}

// Takes the values of `raw` over; "" or the first thing that is wrong.
std::string TakeOptions(std::span<const Option* const> options, const RawParse& raw, Args* args) {
  if (!raw.error.empty()) return raw.error;
  for (const Option* option : options) {
    const auto found = raw.values.find(BareName(*option));
    if (found == raw.values.end()) continue;
    Words values = found->second;
    if (option->type == ArgType::kFlag && values.back() != "true") {
      return found->first + " takes no value";
    }
    if (args->Has(found->first)) values.push_back(args->Get(found->first));  // before the command
    if (std::string wrong = Check(*option, values); !wrong.empty()) return wrong;
    for (std::string& value : values) args->Add(found->first, std::move(value));
  }
  return "";
}

// Positionals: one each in order, the repeatable one takes all that is left.
std::string TakePositionals(std::span<const Option* const> options, const Words& words,
                            Args* args) {
  size_t next = 0;
  for (const Option* option : options) {
    if (!IsPositional(*option)) continue;
    const size_t count =
        IsRepeatable(*option) ? words.size() - next : std::min<size_t>(1, words.size() - next);
    if (count == 0 && option->required) return "needs " + BareName(*option);
    for (size_t end = next + count; next < end; ++next) {
      if (std::string wrong = Check(*option, {words[next]}); !wrong.empty()) return wrong;
      args->Add(BareName(*option), words[next]);
    }
  }
  if (next < words.size()) return "takes no further word " + Quoted(words[next]);
  return "";
}

// Removes the first "--"; what begins with '-' before it is an option nobody knows.
std::optional<std::string> FirstUnknownOption(Words* rest) {
  for (auto word = rest->begin(); word != rest->end(); ++word) {
    if (*word == "--") {
      rest->erase(word);
      break;
    }
    if (word->size() > 1 && word->starts_with("-")) return *word;
  }
  return std::nullopt;
}

std::vector<const Option*> Pointers(std::span<const Option> options) {
  std::vector<const Option*> pointers;
  for (const Option& option : options) pointers.push_back(&option);
  for (const Option& option : GlobalOptions()) pointers.push_back(&option);
  pointers.push_back(&kHelp);
  return pointers;
}

// The command that `words` begin with; drops its words. Null, with `*error`, if there is none.
const Command* TakeCommand(Words* words, std::string* error) {
  Words names;
  const std::string first = words->front();
  const std::string two = words->size() > 1 ? first + " " + (*words)[1] : first;
  std::string members;  // of the group that `first` names
  for (const Command& command : Commands()) {
    if (command.name == first || command.name == two) {
      words->erase(words->begin(), words->begin() + (command.name == first ? 1 : 2));
      return &command;
    }
    names.emplace_back(command.name);
    if (std::string_view(command.name).starts_with(first + " ")) {
      members += (members.empty() ? "" : ", ") + std::string(command.name).substr(first.size() + 1);
    }
  }
  names.emplace_back("help");
  if (!members.empty() && words->size() > 1 && !(*words)[1].starts_with("-")) {
    *error = "unknown command " + Quoted(two) + DidYouMean(two, names, "");
  } else if (!members.empty()) {
    *error = Quoted(first) + " is not a whole command; it goes on: " + members;
  } else {
    *error = "unknown command " + Quoted(first) + DidYouMean(first, names, "");
  }
  return nullptr;
}

void ParseCommand(const Words& words, Invocation* result) {
  const std::vector<const Option*> options = Pointers(result->command->options);
  RawParse raw = ParseRaw(options, words, false);
  if (raw.values.contains("--help")) {
    result->help = true;
    return;
  }
  std::string wrong;
  // An unknown option first: its value may look like a second mistake.
  if (const auto unknown = FirstUnknownOption(&raw.rest)) wrong = UnknownOption(*unknown, options);
  if (wrong.empty()) wrong = TakeOptions(options, raw, &result->args);
  if (wrong.empty()) wrong = TakePositionals(options, raw.rest, &result->args);
  if (!wrong.empty()) result->error = Complaint(result->command, wrong);
}

}  // namespace

Invocation ParseCommandLine(std::span<const std::string> argv) {
  Invocation result;
  std::vector<const Option*> options = Pointers({});
  options.push_back(&kVersionFlag);
  RawParse raw = ParseRaw(options, Words(argv.begin(), argv.end()), true);
  result.version = raw.values.contains("--version");
  result.help = raw.values.contains("--help");
  if (result.version) return result;
  Words words = std::move(raw.rest);
  std::string wrong = TakeOptions(options, raw, &result.args);
  if (wrong.empty() && !words.empty() && words.front().starts_with("-")) {
    wrong = UnknownOption(words.front(), options);
  }
  if (wrong.empty() && !words.empty() && words.front() == "help") {
    result.help = true;
    words.erase(words.begin());
  }
  const bool asks = result.help || (words.size() == 2 && words[1] == "--help");
  if (asks && !words.empty() && words.size() <= 2 && IsGroup(words.front()) &&
      (words.size() == 1 || words[1] == "--help")) {
    result.help = true;
    result.group = words.front();
    return result;
  }
  if (wrong.empty() && !words.empty()) result.command = TakeCommand(&words, &wrong);
  if (!wrong.empty()) {
    result.error = Complaint(nullptr, wrong);
  } else if (result.command != nullptr && !result.help) {
    ParseCommand(words, &result);
  }
  return result;
}

}  // namespace kb
