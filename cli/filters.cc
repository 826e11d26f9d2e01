#include "cli/filters.h"

#include <cctype>
#include <string_view>

#include "kb/error.h"

namespace kb {
namespace {

bool IsDigits(std::string_view text) {
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return !text.empty();
}

// "12", "12.8", "12.8.1"
bool IsVersion(std::string_view text) {
  for (size_t dot = text.find('.'); dot != std::string_view::npos; dot = text.find('.')) {
    if (!IsDigits(text.substr(0, dot))) return false;
    text.remove_prefix(dot + 1);
  }
  return IsDigits(text);
}

// "sm_90", "sm_90a", "90", "9.0"
bool IsArch(std::string_view text) {
  if (text.starts_with("sm_")) text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  return IsVersion(text) && text.size() <= 4;
}

Kind KindOf(std::string_view name) {
  for (const Kind kind : {Kind::kSkill, Kind::kTrace, Kind::kNnk}) {
    if (name == KindName(kind)) return kind;
  }
  return Kind::kPage;
}

}  // namespace

std::string JoinedWords(const Args& args, const char* name) {
  std::string text;
  for (const std::string& word : args.All(name)) text += (text.empty() ? "" : " ") + word;
  return text;
}

Filters FiltersOf(const Args& args) {
  Filters filters;
  for (const std::string& name : args.All("--kind")) filters.kinds.push_back(KindOf(name));
  filters.arch = args.Get("--arch");
  filters.cuda = args.Get("--cuda");
  if (!filters.arch.empty() && !IsArch(filters.arch)) {
    throw Error("--arch takes an architecture such as sm_90 or sm_90a, not '" + filters.arch + "'");
  }
  if (!filters.cuda.empty() && !IsVersion(filters.cuda)) {
    throw Error("--cuda takes a version such as 13.0, not '" + filters.cuda + "'");
  }
  filters.dtype = args.Get("--dtype");
  filters.bound = args.Get("--bound");
  filters.tags = args.All("--tag");
  filters.state = args.Get("--state");
  filters.license = args.Get("--license");
  return filters;
}

}  // namespace kb
