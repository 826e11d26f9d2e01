#include <algorithm>
#include <charconv>
#include <optional>

#include "kb/document.h"

namespace kb {
namespace {

// A version: an architecture (major 9, minor 0, suffix 'a') or a CUDA release.
struct Version {
  int major = 0;
  std::optional<int> minor;
  char suffix = 0;  // 'a' or 'f' of an architecture, else 0
};

enum class Op { kNone, kAtLeast, kAbove, kAtMost, kBelow };

struct Term {
  Op op = Op::kNone;
  Version version;
};

using Reading = std::optional<Version> (*)(std::string_view);

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool DropPrefix(std::string_view& text, std::string_view prefix) {
  if (text.size() < prefix.size()) return false;
  for (size_t i = 0; i < prefix.size(); ++i) {
    if (Lower(text[i]) != prefix[i]) return false;
  }
  text.remove_prefix(prefix.size());
  return true;
}

// Takes a number of at most four digits off the front.
std::optional<int> DropNumber(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const size_t digits = static_cast<size_t>(end - text.data());
  if (error != std::errc() || digits > 4 || value < 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

// "sm_90a", "compute_90", "90", "9.0"; a bare number below 20 is a major version.
std::optional<Version> ReadArch(std::string_view text) {
  for (const std::string_view prefix : {"sm_", "sm", "compute_", "cc"}) {
    if (DropPrefix(text, prefix)) break;
  }
  const std::optional<int> number = DropNumber(text);
  if (!number) return std::nullopt;
  Version version{*number, 0, 0};
  if (DropPrefix(text, ".")) {
    version.minor = DropNumber(text);
    if (!version.minor) return std::nullopt;
  } else if (*number >= 20) {
    version.major = *number / 10;
    version.minor = *number % 10;
  }
  if (!text.empty() && (Lower(text[0]) == 'a' || Lower(text[0]) == 'f')) {
    version.suffix = Lower(text[0]);
    text.remove_prefix(1);
  }
  return text.empty() ? std::optional<Version>(version) : std::nullopt;
}

// "12", "12.x", "12.8", "12.8.1" (what follows the minor version does not matter).
std::optional<Version> ReadCuda(std::string_view text) {
  const std::optional<int> major = DropNumber(text);
  if (!major) return std::nullopt;
  Version version{*major, std::nullopt, 0};
  if (DropPrefix(text, ".") && !DropPrefix(text, "x")) {
    version.minor = DropNumber(text);
    if (!version.minor) return std::nullopt;
    if (DropPrefix(text, ".") && !DropNumber(text)) return std::nullopt;
  }
  return text.empty() ? std::optional<Version>(version) : std::nullopt;
}

Op DropOp(std::string_view& text) {
  if (DropPrefix(text, ">=")) return Op::kAtLeast;
  if (DropPrefix(text, "<=")) return Op::kAtMost;
  if (DropPrefix(text, ">")) return Op::kAbove;
  if (DropPrefix(text, "<")) return Op::kBelow;
  if (!DropPrefix(text, "==")) DropPrefix(text, "=");
  return Op::kNone;
}

// nullopt if a part of it cannot be read; no terms for a blank text.
std::optional<std::vector<Term>> ReadConstraint(std::string_view text, Reading read) {
  constexpr std::string_view kBlank = " \t\r\n,";
  std::vector<Term> terms;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    if (text.empty()) return terms;
    Term term;
    term.op = DropOp(text);
    text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
    const size_t end = std::min(text.find_first_of(" \t\r\n,<>="), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (term.op == Op::kNone && !word.empty() && word.back() == '+') {
      term.op = Op::kAtLeast;
      word.remove_suffix(1);
    }
    const std::optional<Version> version = read(word);
    if (!version) return std::nullopt;
    term.version = *version;
    terms.push_back(term);
  }
}

// <0, 0, >0; a wanted version without a minor is met by all of its major.
int Compare(const Version& have, const Version& want) {
  if (have.major != want.major || !want.minor) return have.major - want.major;
  return have.minor.value_or(0) - *want.minor;
}

bool Meets(const Version& have, const Term& term) {
  const int order = Compare(have, term.version);
  const bool upper = term.op == Op::kAtMost || term.op == Op::kBelow;
  if (term.version.suffix == 'a' && !upper) return order == 0;
  if (term.version.suffix == 'f' && !upper) {
    return have.major == term.version.major && order >= 0;
  }
  switch (term.op) {
    case Op::kNone:
      return order == 0;
    case Op::kAtLeast:
      return order >= 0;
    case Op::kAbove:
      return order > 0;
    case Op::kAtMost:
      return order <= 0;
    case Op::kBelow:
      return order < 0;
  }
  return true;
}

// All comparisons hold, or one of the versions that are merely listed is met.
bool Matches(std::string_view constraint, std::string_view have_text, Reading read) {
  const std::optional<std::vector<Term>> terms = ReadConstraint(constraint, read);
  const std::optional<Version> have = read(have_text);
  if (!terms || !have || terms->empty()) return true;
  bool compared = false, all = true;
  for (const Term& term : *terms) {
    const bool met = Meets(*have, term);
    if (term.op == Op::kNone && met) return true;
    if (term.op == Op::kNone) continue;
    compared = true;
    all = all && met;
  }
  return compared && all;
}

// ---- reading a scope ----

std::string Joined(const Value& value) {
  std::string text = value.ToText();
  for (const Value& item : value.AsList()) text += (text.empty() ? "" : " ") + item.ToText();
  return text;
}

// The items of a list, or the parts of a string: by comma if it has one, else by blanks.
std::vector<std::string> Words(const Value& value) {
  std::vector<std::string> words;
  for (const Value& item : value.AsList()) {
    if (std::string text = item.ToText(); !text.empty()) words.push_back(std::move(text));
  }
  const std::string text = value.ToText();
  const bool commas = text.find(',') != std::string::npos;
  const char* separators = commas ? ",\n" : " \t\r\n";
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    std::string word = text.substr(at, end - at);
    word.erase(0, std::min(word.find_first_not_of(" \t\r\n"), word.size()));
    word.erase(word.find_last_not_of(" \t\r\n") + 1);
    if (!word.empty()) words.push_back(std::move(word));
    at = end + 1;
  }
  return words;
}

// "kb-arch" and the like, wherever authors put it.
const Value& Ours(const Value& front_matter, const std::string& name) {
  const Value& metadata = front_matter["metadata"];
  const Value* const places[] = {&metadata["kb-" + name], &front_matter["kb-" + name],
                                 &metadata["kb"][name], &front_matter["kb"][name]};
  for (const Value* place : places) {
    if (!place->IsNull()) return *place;
  }
  return *places[0];
}

const Value& Either(const Value& first, const Value& second) {
  return first.IsNull() ? second : first;
}

// Compute capability "9.0" as "sm_90".
std::string ArchOfCapability(const std::string& text) {
  const std::optional<Version> v = ReadArch(text);
  if (!v) return text;
  return "sm_" + std::to_string(v->major * 10 + v->minor.value_or(0)) +
         (v->suffix != 0 ? std::string(1, v->suffix) : "");
}

}  // namespace

Scope ReadScope(Kind kind, const Value& front_matter) {
  const Value& entry = front_matter["scope"];
  const auto pick = [&](const char* name, const Value& native) {
    return Either(native, Ours(front_matter, name));
  };
  Scope scope;
  if (kind == Kind::kTrace) {
    const Value& task = front_matter["task"];
    const Value& hardware = front_matter["hardware"];
    scope.arch = ArchOfCapability(Joined(Either(hardware["cc"], hardware["arch"])));
    if (scope.arch.empty()) scope.arch = Joined(Ours(front_matter, "arch"));
    scope.cuda = Joined(pick("cuda", front_matter["toolchain"]["cuda"]));
    scope.dtypes = Words(pick("dtype", task["dtype"]));
    scope.bound = Joined(pick("bound", task["bound"]));
    scope.topics = Words(pick("topics", task["op"]));
    return scope;
  }
  scope.arch = Joined(pick("arch", entry["arch"]));
  scope.cuda = Joined(pick("cuda", entry["cuda"]));
  scope.dtypes = Words(pick("dtype", entry["dtype"]));
  scope.bound = Joined(pick("bound", entry["bound"]));
  const Value& topics = pick("topics", entry["topics"]);
  scope.topics =
      Words(Either(topics, Either(front_matter["tags"], front_matter["metadata"]["tags"])));
  return scope;
}

bool MatchesArch(std::string_view constraint, std::string_view arch) {
  return Matches(constraint, arch, ReadArch);
}

bool MatchesCuda(std::string_view constraint, std::string_view version) {
  return Matches(constraint, version, ReadCuda);
}

bool IsArchConstraint(std::string_view constraint) {
  return ReadConstraint(constraint, ReadArch).has_value();
}

bool IsCudaConstraint(std::string_view constraint) {
  return ReadConstraint(constraint, ReadCuda).has_value();
}

}  // namespace kb
