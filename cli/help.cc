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

}  // namespace

std::string HelpText() {
  std::string text = "kb - knowledge for CUDA kernels: indexed, searched, checked\n";
  for (const Command& command : Commands()) {
    text += "  kb " + Padded(command.name, 15) + "  " + command.summary + "\n";
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
