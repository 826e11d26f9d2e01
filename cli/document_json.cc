#include "cli/document_json.h"

#include <utility>

#include "kb/nnk.h"

namespace kb {
namespace {

Value TextList(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

}  // namespace

std::string TrustOf(const CatalogDocument& document) {
  if (document.blocked) return "blocked";
  switch (document.kind) {
    case Kind::kSkill:
      return "curated";
    case Kind::kTrace:
      return "recorded";
    case Kind::kPage:
      return "reference";
    case Kind::kNnk:
      break;
  }
  return IsNnkState(document.state) ? document.state : "unproved";
}

Value::Map DocumentJson(const CatalogDocument& document) {
  const Scope& scope = document.scope;
  Value::Map applies = {{"arch", scope.arch},
                        {"cuda", scope.cuda},
                        {"dtypes", TextList(scope.dtypes)},
                        {"bound", scope.bound},
                        {"topics", TextList(scope.topics)}};
  return {{"id", document.id},
          {"kind", KindName(document.kind)},
          {"title", document.title},
          {"description", document.description},
          {"path", document.path},
          {"bundle", document.bundle},
          {"sha256", document.sha256},
          {"license", document.license},
          {"state", document.state},
          {"trust", TrustOf(document)},
          {"scope", Value(std::move(applies))}};
}

Value DiagnosticJson(const Diagnostic& diagnostic) {
  return Value(Value::Map{{"severity", SeverityName(diagnostic.severity)},
                          {"rule", diagnostic.rule},
                          {"path", diagnostic.path},
                          {"line", diagnostic.line},
                          {"message", diagnostic.message},
                          {"mend", diagnostic.mend}});
}

Value DiagnosticsJson(const Diagnostics& diagnostics) {
  Value::List list;
  for (const Diagnostic& diagnostic : diagnostics) list.push_back(DiagnosticJson(diagnostic));
  return Value(std::move(list));
}

}  // namespace kb
