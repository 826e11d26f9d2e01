#include "cli/help.h"

#include <algorithm>
#include <string>

#include "cli/raw_args.h"

namespace kb {
namespace {

std::string Padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string Left(const Option& option) {
  std::string left = IsPositional(option) ? option.name : BareName(option);
  if (option.type != ArgType::kFlag && !IsPositional(option)) {
    left += std::string(" ") + option.value_name;
  }
  return left;
}

std::string Right(const Option& option) {
  std::string right = option.help;
  if (IsRepeatable(option) && !IsPositional(option)) right += "; repeatable";
  if (option.fallback[0] != '\0') right += std::string(" [") + option.fallback + "]";
  return right;
}

std::string Usage(const Command& command) {
  std::string usage = std::string("usage: kb ") + command.name;
  for (const Option& option : command.options) {
    if (!IsPositional(option)) continue;
    usage +=
        option.required ? std::string(" ") + option.name : std::string(" [") + option.name + "]";
  }
  return usage + " [options]\n";
}

std::string Lines(std::span<const Option> options) {
  size_t width = 0;
  for (const Option& option : options) width = std::max(width, Left(option).size());
  std::string lines;
  for (const Option& option : options) {
    lines += "  " + Padded(Left(option), width) + "  " + Right(option) + "\n";
  }
  return lines;
}

constexpr int kMostOfAGroup = 1;  // more are shown by kb help GROUP alone

std::string Line(const std::string& name, const std::string& summary) {
  return "  kb " + Padded(name, 15) + "  " + summary + "\n";
}

// "tdd" of "tdd run"; "" if the name is one word.
std::string GroupOf(const Command& command) {
  const std::string name = command.name;
  const size_t space = name.find(' ');
  return space == std::string::npos ? "" : name.substr(0, space);
}

int CountOf(const std::string& group) {
  int count = 0;
  for (const Command& command : Commands()) count += GroupOf(command) == group;
  return count;
}

std::string GroupLine(const std::string& group) {
  std::string members;
  for (const Command& command : Commands()) {
    if (GroupOf(command) != group) continue;
    const std::string member = std::string(command.name).substr(group.size() + 1);
    if (members.size() + member.size() > 40) {
      members += " ...";
      break;
    }
    members += (members.empty() ? "" : ", ") + member;
  }
  return Line(group + " ...", members + ": kb help " + group);
}

}  // namespace

bool IsGroup(std::string_view word) { return !word.empty() && CountOf(std::string(word)) > 0; }

std::string GroupHelp(const std::string& group) {
  std::string text;
  for (const Command& command : Commands()) {
    if (GroupOf(command) == group) text += Line(command.name, command.summary);
  }
  return text + "\nkb help " + group + " COMMAND explains a command\n";
}

std::string HelpText() {
  std::string text = "kb - knowledge for CUDA kernels: indexed, searched, checked\n";
  std::string shown;  // the large group whose line is there already
  for (const Command& command : Commands()) {
    const std::string group = GroupOf(command);
    if (group.empty() || CountOf(group) <= kMostOfAGroup) {
      text += Line(command.name, command.summary);
    } else if (group != shown) {
      shown = group;
      text += GroupLine(group);
    }
  }
  text += "\n" + Lines(GlobalOptions());
  text += "kb help COMMAND explains a command; kb --version says the version.\n";
  text += "exit codes: 0 found or clean, 1 nothing found or findings, 2 could not do it\n";
  return text;
}

std::string CommandHelp(const Command& command) {
  std::string text = std::string("kb ") + command.name + " - " + command.summary + "\n\n";
  text += Usage(command) + Lines(command.options);
  text += "  also --kb-dir DIR, --color WHEN, --quiet (kb help)\n\n";
  text += std::string("exit codes: ") + command.exits + "\n";
  text += std::string("example: ") + command.example + "\n";
  return text;
}

}  // namespace kb
