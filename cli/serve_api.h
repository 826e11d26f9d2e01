// What kb serve answers: its routes, each a row of a table, over one index. One object per
// thread.
#pragma once

#include <string>
#include <string_view>

#include "cli/mcp_index.h"
#include "cli/serve_guard.h"
#include "cli/serve_http.h"
#include "indexer/retriever.h"

namespace kb {

struct ServeOptions {
  std::string kb_dir;
  ServeAccess access;
  bool only_rag = false;  // nothing but POST /
  int rag_tokens = 4000;  // budget of what POST / answers
};

// ComputeEval cuts what is longer.
inline constexpr size_t kMaxRagBytes = 50000;

// GET  /                the page
// POST /                {"message"} -> {"context"}: "" if nothing applies
// GET  /api/search      AnswerJson         q, k, variant and the filters of kb search
// GET  /api/context     kb context --json  q, budget, items and the filters
// GET  /api/get         FoundJson          id
// GET  /api/trace       WholeTraceJson     id
// GET  /api/nnk         EntryJson          id
// GET  /api/status      StatusJson
// Errors: {"error": one line}. Nothing else is served; no path names a file.
class ServeApi {
 public:
  explicit ServeApi(ServeOptions options);

  [[nodiscard]] HttpResponse Answer(const HttpRequest& request);

  // The index as it is now: opened at the first call and again after another process has
  // written a newer one. Throws Error if there is none.
  [[nodiscard]] Retriever& Index() { return index_.Open(); }
  [[nodiscard]] const ServeOptions& options() const { return options_; }

 private:
  template <typename Route>
  [[nodiscard]] HttpResponse Try(const Route& route, const HttpRequest& request);

  ServeOptions options_;
  std::string page_policy_;
  McpIndex index_;
};

// The page that is built into the program (cli/web/index.html).
[[nodiscard]] std::string_view WebPage();

}  // namespace kb
