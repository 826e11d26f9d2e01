#include "cli/args.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/raw_args.h"

namespace kb {
namespace {

// CLI11 drops all words after a bare "++"; so that one can ask about operators, it never sees it.
constexpr const char kPlusPlus[] = "\x01++";

Words WithPlusPlus(Words words) {
  std::replace(words.begin(), words.end(), std::string(kPlusPlus), std::string("++"));
  return words;
}

}  // namespace

bool IsRepeatable(const Option& option) { return std::string_view(option.name).ends_with("..."); }

bool IsPositional(const Option& option) { return option.name[0] != '-'; }

std::string BareName(const Option& option) {
  std::string name = option.name;
  return IsRepeatable(option) ? name.substr(0, name.size() - 3) : name;
}

RawParse ParseRaw(std::span<const Option* const> options, Words words, bool stop_at_word) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.prefix_command(stop_at_word);
  std::vector<std::pair<std::string, CLI::Option*>> added;
  for (const Option* option : options) {
    if (IsPositional(*option)) continue;
    const std::string name = BareName(*option);
    const std::string spelled = name == "--help" ? "-h,--help" : name;
    CLI::Option* one =
        option->type == ArgType::kFlag ? app.add_flag(spelled) : app.add_option(spelled);
    one->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    added.emplace_back(name, one);
  }
  RawParse raw;
  std::replace(words.begin(), words.end(), std::string("++"), std::string(kPlusPlus));
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ArgumentMismatch& mismatch) {  // "--arch: 1 required TEXT missing"
    const std::string what = mismatch.what();
    raw.error = what.substr(0, what.find(':')) + " needs a value";
  } catch (const CLI::Error& error) {
    raw.error = error.what();
  }
  for (const auto& [name, option] : added) {
    if (option->count() > 0) raw.values[name] = WithPlusPlus(option->results());
  }
  raw.rest = WithPlusPlus(app.remaining());
  return raw;
}

bool Args::Has(std::string_view name) const { return values_.find(name) != values_.end(); }

std::string Args::Get(std::string_view name, std::string_view fallback) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(fallback) : found->second.front();
}

int Args::GetInt(std::string_view name, int fallback) const {
  const std::string text = Get(name);
  int number = fallback;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<std::string> Args::All(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

void Args::Add(std::string name, std::string value) {
  values_[std::move(name)].push_back(std::move(value));
}

}  // namespace kb
