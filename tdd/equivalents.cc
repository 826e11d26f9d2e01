#include "tdd/equivalents.h"

#include <string_view>

#include "kb/file.h"
#include "kb/yaml.h"

namespace kb {
namespace {

constexpr int64_t kMaxBytes = 256 << 10;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace

DeclaredEquivalents ReadEquivalents(const std::string& folder) {
  DeclaredEquivalents read;
  const std::string path = folder + "/launch.yaml";
  const std::optional<std::string> text = ReadFile(path, nullptr, kMaxBytes);
  YamlError error;
  const std::optional<Value> yaml = text ? ParseYaml(*text, 0, &error) : std::nullopt;
  if (!yaml) return read;  // LoadCandidate has said why
  for (const Value& entry : (*yaml)["equivalent"].AsList()) {
    const DeclaredEquivalent declared = {
        entry["mutant"].ToText(), std::string(Trimmed(entry["was"].ToText())),
        std::string(Trimmed(entry["now"].ToText())), entry["reason"].ToText(), entry.line()};
    if (!declared.operation.empty() && !declared.was.empty() && !declared.reason.empty()) {
      read.entries.push_back(declared);
      continue;
    }
    read.diagnostics.push_back({Severity::kError, "candidate-equivalent", path, entry.line(),
                                "an equivalent mutant without mutant, was or reason",
                                "give {mutant: OPERATION, was: LINE, now: LINE, reason: WHY}"});
  }
  return read;
}

const DeclaredEquivalent* FindEquivalent(const std::vector<DeclaredEquivalent>& entries,
                                         const Mutant& mutant) {
  for (const DeclaredEquivalent& entry : entries) {
    if (entry.operation == mutant.operation && entry.was == Trimmed(mutant.was) &&
        entry.now == Trimmed(mutant.now)) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace kb
