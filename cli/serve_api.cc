#include "cli/serve_api.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/answer_json.h"
#include "cli/args.h"
#include "cli/filters.h"
#include "cli/found_json.h"
#include "cli/index_status.h"
#include "cli/serve_documents.h"
#include "indexer/context.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr const char kJson[] = "application/json";

HttpResponse JsonResponse(const Value& value) { return {200, kJson, WriteJson(value) + "\n"}; }

// The parameters as the words of a command, so that the command table says what is taken. The
// table's complaints are for the command line: "kb search: WHAT (kb search --help)".
Invocation AsCommand(const char* command, const HttpRequest& request) {
  std::vector<std::string> words = {command};
  std::string question;
  for (const auto& [name, value] : request.query) {
    if (value.empty()) continue;  // a form's empty field
    if (name == "q") {
      question = value;
    } else {
      words.insert(words.end(), {(name == "k" ? "-" : "--") + name, value});
    }
  }
  words.insert(words.end(), {"--", question});
  Invocation invocation = ParseCommandLine(words);
  std::string& error = invocation.error;
  if (invocation.help) error = "a parameter is no value";
  const std::string prefix = std::string("kb ") + command + ": ";
  if (error.starts_with(prefix)) error.erase(0, prefix.size());
  if (error.ends_with(')')) error.erase(error.rfind(" ("));
  error.erase(0, error.find_first_not_of('-'));
  if (error == "TASK is empty" || error == "QUERY is empty") error = "q, the question, is empty";
  return invocation;
}

// A bad request is the client's fault, so it is found before the index is touched.
std::optional<HttpResponse> ReadQuery(const char* command, const HttpRequest& request, Args* args,
                                      Query* query) {
  Invocation invocation = AsCommand(command, request);
  if (!invocation.error.empty()) return HttpError(400, Printable(invocation.error));
  try {
    query->filters = FiltersOf(invocation.args);
  } catch (const Error& error) {
    return HttpError(400, Printable(std::string(error.what()).substr(2)));  // "--arch takes"
  }
  *args = std::move(invocation.args);
  return std::nullopt;
}

HttpResponse Search(ServeApi& api, const HttpRequest& request) {
  Args args;
  Query query;
  if (auto refused = ReadQuery("search", request, &args, &query)) return *refused;
  const std::string variant = args.Get("--variant", "full");
  query.text = JoinedWords(args, "QUERY");
  query.k = args.GetInt("-k", query.k);
  if (variant != "full") query.variant = variant == "dense" ? Variant::kDense : Variant::kLexical;
  Retriever& retriever = api.Index();
  return JsonResponse(AnswerJson(retriever, retriever.Search(query), query, variant));
}

HttpResponse ContextFor(ServeApi& api, const HttpRequest& request) {
  Args args;
  Query query;
  if (auto refused = ReadQuery("context", request, &args, &query)) return *refused;
  query.text = JoinedWords(args, "TASK");
  ContextOptions options;
  options.budget_tokens = args.GetInt("--budget", options.budget_tokens);
  options.max_items = args.GetInt("--items", options.max_items);
  options.format = ContextFormat::kJson;
  Context context = WriteContext(api.Index(), query, options);
  if (context.text.empty()) return HttpError(400, "the budget is too small; give it at least 100");
  return {200, kJson, std::move(context.text)};
}

// What the query names, at one generation of the index.
Found FindAsked(ServeApi& api, const HttpRequest& request) {
  Catalog& catalog = api.Index().catalog();
  return FindNamed(catalog, api.options().kb_dir, request.query.front().second);
}

HttpResponse Get(ServeApi& api, const HttpRequest& request) {
  const Found found = FindAsked(api, request);
  return found.why_not.empty() ? JsonResponse(FoundJson(found)) : HttpError(404, found.why_not);
}

HttpResponse OfKind(ServeApi& api, const HttpRequest& request, Kind kind) {
  const Found found = FindAsked(api, request);
  if (!found.why_not.empty()) return HttpError(404, found.why_not);
  if (found.document->kind != kind || found.chunk) {
    return HttpError(404, Printable(found.document->id) + " names no " + KindName(kind) +
                              "; /api/get gives any document");
  }
  return JsonResponse(kind == Kind::kTrace ? WholeTraceJson(found)
                                           : EntryJson(api.options().kb_dir, found));
}

HttpResponse TraceOf(ServeApi& api, const HttpRequest& request) {
  return OfKind(api, request, Kind::kTrace);
}

HttpResponse EntryOf(ServeApi& api, const HttpRequest& request) {
  return OfKind(api, request, Kind::kNnk);
}

HttpResponse StatusOf(ServeApi& api, const HttpRequest&) {
  return JsonResponse(StatusJson(ReadStatus(api.options().kb_dir)));
}

HttpResponse Page(ServeApi&, const HttpRequest&) {
  return {200, "text/html; charset=utf-8", std::string(WebPage())};
}

// Tokens are not bytes, so a context that is too long is written again with less.
std::string RagContext(Retriever& retriever, const Query& query, int tokens) {
  while (true) {
    ContextOptions options;
    options.budget_tokens = tokens;
    Context context = WriteContext(retriever, query, options);
    if (context.nothing_applies) return "";
    if (context.text.size() <= kMaxRagBytes) return std::move(context.text);
    tokens = tokens / 4 * 3;
  }
}

HttpResponse Rag(ServeApi& api, const HttpRequest& request) {
  if (!request.Header("content-type").starts_with(kJson)) {
    return HttpError(415, "send Content-Type: application/json");
  }
  std::string why;
  const auto body = ParseJson(request.body, &why);
  if (!body) return HttpError(400, "the body is no JSON: " + Printable(why));
  const Value& message = (*body)["message"];
  if (!message.IsString()) return HttpError(400, "the body is not {\"message\": \"the task\"}");
  const Query query = {message.AsString()};
  const std::string context = RagContext(api.Index(), query, api.options().rag_tokens);
  return JsonResponse(Value(Value::Map{{"context", context}}));
}

struct Route {
  const char* method;
  const char* path;
  HttpResponse (*answer)(ServeApi& api, const HttpRequest& request);
  const char* parameters;  // those it takes, each with blanks around; "id" alone is required
  bool needs_token;
};

constexpr char kSearchParameters[] = " q k variant kind arch cuda dtype bound tag state license ";
constexpr char kContextParameters[] =
    " q budget items kind arch cuda dtype bound tag state license ";

constexpr Route kRoutes[] = {
    {"GET", "/", Page, "", false},
    {"POST", "/", Rag, "", true},
    {"GET", "/api/search", Search, kSearchParameters, true},
    {"GET", "/api/context", ContextFor, kContextParameters, true},
    {"GET", "/api/get", Get, " id ", true},
    {"GET", "/api/trace", TraceOf, " id ", true},
    {"GET", "/api/nnk", EntryOf, " id ", true},
    {"GET", "/api/status", StatusOf, "", true},
};

bool IsServed(const Route& route, bool only_rag) { return !only_rag || route.answer == Rag; }

bool IsRepeated(const std::string& name, const HttpPairs& query) {
  const auto count = std::ranges::count(query, name, [](const auto& pair) { return pair.first; });
  return count > 1 && name != "kind" && name != "tag";
}

std::optional<HttpResponse> CheckParameters(const Route& route, const HttpRequest& request) {
  const std::string_view known = route.parameters;
  for (const auto& [name, value] : request.query) {
    const std::string padded = " " + name + " ";
    if (name.find(' ') != std::string::npos || known.find(padded) == std::string_view::npos) {
      return HttpError(
          400, "unknown parameter " + Printable("'" + name + "'") + "; this takes" +
                   (known.empty() ? " none" : std::string(known.substr(0, known.size() - 1))));
    }
    if (IsRepeated(name, request.query)) return HttpError(400, Printable(name) + " is given twice");
  }
  const bool takes_id = known == " id ";
  if (takes_id && (request.query.size() != 1 || request.query.front().second.empty())) {
    return HttpError(400, "give one id, as in ?id=NAME");
  }
  return std::nullopt;
}

HttpResponse NoRoute(const HttpRequest& request, bool only_rag) {
  std::string allowed;
  for (const Route& route : kRoutes) {
    if (!IsServed(route, only_rag) || request.path != route.path) continue;
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  if (allowed.empty()) return HttpError(404, "nothing is here; the API is below /api/");
  HttpResponse response = HttpError(405, "this takes " + allowed);
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace

ServeApi::ServeApi(ServeOptions options)
    : options_(std::move(options)), page_policy_(PagePolicy(WebPage())), index_(options_.kb_dir) {}

template <typename Route>
HttpResponse ServeApi::Try(const Route& route, const HttpRequest& request) {
  try {
    return route.answer(*this, request);
  } catch (const Error& error) {
    index_ = McpIndex(options_.kb_dir);  // whatever is wrong with it, the next try looks again
    return HttpError(503, Printable(error.what()));
  }
}

HttpResponse ServeApi::Answer(const HttpRequest& request) {
  const auto route = std::ranges::find_if(kRoutes, [&](const Route& r) {
    return IsServed(r, options_.only_rag) && request.method == r.method && request.path == r.path;
  });
  const bool is_known = route != std::end(kRoutes);
  const bool is_public = is_known && !route->needs_token;
  if (auto refused = Refuse(request, options_.access, is_public)) return *refused;
  if (!is_known) return NoRoute(request, options_.only_rag);
  if (auto refused = CheckParameters(*route, request)) return *refused;
  HttpResponse response = Try(*route, request);
  if (response.status == 503) response = Try(*route, request);  // the index may have been replaced
  if (route->answer == Page) AddSecurityHeaders(page_policy_, &response);
  return response;
}

}  // namespace kb
