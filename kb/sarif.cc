#include "kb/sarif.h"

#include <iterator>
#include <set>

#include "kb/json.h"
#include "kb/lint.h"
#include "kb/value.h"

namespace kb {
namespace {

constexpr const char* kSchema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

const char* LevelOf(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
    case Severity::kBlock:
      return "error";
  }
  return "none";
}

// RFC 3986: what is not unreserved or '/' is percent-encoded; a relative reference, so
// that a service maps it to the repository. A path from the root becomes a file: URI.
std::string UriOf(std::string_view path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  static constexpr std::string_view kPlain = "-._~/";
  while (path.starts_with("./")) path.remove_prefix(2);
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const unsigned char byte = static_cast<unsigned char>(c);
    const bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (alnum || kPlain.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

Value Text(std::string_view text) {
  Value message;
  message.Set("text", text);
  return message;
}

// "security-severity" is what code-scanning services rank findings of safety by.
Value RuleObject(const std::string& id) {
  Value object;
  object.Set("id", id);
  const Rule* rule = FindRule(id);
  if (rule == nullptr) return object;
  object.Set("shortDescription", Text(rule->summary));
  object.Set("help", Text(rule->mend));
  Value configuration;
  configuration.Set("level", LevelOf(rule->severity));
  object.Set("defaultConfiguration", configuration);
  Value properties;
  if (id.compare(0, 7, "safety-") == 0) {
    properties.Set("tags", Value(Value::List{Value("security")}));
    const char* score = rule->severity == Severity::kBlock     ? "9.0"
                        : rule->severity == Severity::kWarning ? "5.0"
                                                               : "2.0";
    properties.Set("security-severity", score);
    object.Set("properties", properties);
  }
  return object;
}

Value LocationOf(const Diagnostic& diagnostic) {
  Value artifact;
  artifact.Set("uri", UriOf(diagnostic.path));
  Value physical;
  physical.Set("artifactLocation", artifact);
  if (diagnostic.line > 0) {
    Value region;
    region.Set("startLine", diagnostic.line);
    physical.Set("region", region);
  }
  Value location;
  location.Set("physicalLocation", physical);
  return location;
}

Value ResultOf(const Diagnostic& diagnostic, const std::set<std::string>& rules) {
  Value result;
  result.Set("ruleId", diagnostic.rule);
  result.Set("ruleIndex",
             static_cast<int>(std::distance(rules.begin(), rules.find(diagnostic.rule))));
  result.Set("level", LevelOf(diagnostic.severity));
  const std::string mend = diagnostic.mend.empty() ? "" : " (" + diagnostic.mend + ")";
  result.Set("message", Text(diagnostic.message + mend));
  Value locations{Value::List{}};
  if (!diagnostic.path.empty()) locations.Add(LocationOf(diagnostic));
  result.Set("locations", locations);
  return result;
}

}  // namespace

std::string WriteSarif(const Diagnostics& diagnostics, std::string_view version) {
  std::set<std::string> ids;
  for (const Diagnostic& diagnostic : diagnostics) ids.insert(diagnostic.rule);
  Value rules{Value::List{}}, results{Value::List{}};
  for (const std::string& id : ids) rules.Add(RuleObject(id));
  for (const Diagnostic& diagnostic : diagnostics) results.Add(ResultOf(diagnostic, ids));
  Value driver;
  driver.Set("name", "kb");
  driver.Set("version", version);
  driver.Set("rules", rules);
  Value tool;
  tool.Set("driver", driver);
  Value run;
  run.Set("tool", tool);
  run.Set("columnKind", "utf16CodeUnits");
  run.Set("results", results);
  Value log;
  log.Set("$schema", kSchema);
  log.Set("version", "2.1.0");
  log.Set("runs", Value(Value::List{run}));
  return WriteJson(log, 2) + "\n";
}

}  // namespace kb
