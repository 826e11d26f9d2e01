#include <ostream>

#include "cli/filters.h"
#include "cli/run_commands.h"
#include "indexer/context.h"
#include "kb/error.h"

namespace kb {
namespace {

ContextFormat FormatOf(const Args& args) {
  const std::string name = args.Has("--json") ? "json" : args.Get("--format", "md");
  if (name == "xml") return ContextFormat::kXml;
  return name == "json" ? ContextFormat::kJson : ContextFormat::kMarkdown;
}

}  // namespace

int RunContext(const Args& args, Streams& streams) {
  Query query;
  query.text = JoinedWords(args, "TASK");
  query.filters = FiltersOf(args);
  ContextOptions options;
  options.budget_tokens = args.GetInt("--budget", options.budget_tokens);
  options.max_items = args.GetInt("--items", options.max_items);
  options.format = FormatOf(args);
  Retriever retriever(FindKbDir(args));
  const Context context = WriteContext(retriever, query, options);
  if (context.text.empty()) {
    throw Error("--budget " + std::to_string(options.budget_tokens) +
                " is too small for an answer; give it at least 100 tokens");
  }
  streams.out << context.text;
  return context.nothing_applies ? kNothing : kFound;
}

}  // namespace kb
