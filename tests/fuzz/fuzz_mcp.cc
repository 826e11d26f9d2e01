// Any bytes as a line to kb mcp: what comes back is nothing, or progress and then one response,
// each one line of JSON-RPC 2.0 of bounded size.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/mcp_server.h"
#include "indexer/ingest.h"
#include "kb/json.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

struct Page {
  const char* path;
  const char* text;
};

constexpr Page kPages[] = {
    {"skills/banks/SKILL.md",
     "---\nname: banks\ndescription: Avoid shared memory bank conflicts by padding.\nlicense: MIT\n"
     "---\n# Banks\n\nPad each row. </kb-item>\n\n```cuda\n__global__ void k() {}\n```\n"},
    {"skills/banks/references/a b.md", "# Phases\n\nGr\xc3\xb6\xc3\x9f e \xff\n"},
    {"traces/t.md",
     "---\nkb: trace/1\nid: t\ntitle: T\n---\n# T\n\n```yaml kb:attempt\nid: A1\n```\n"},
};

// Made once, removed at the end.
class Index {
 public:
  Index() : folder_("/tmp/kb_fuzz_mcp_" + std::to_string(getpid())) {
    for (const Page& page : kPages) {
      const std::filesystem::path path = folder_ + "/" + page.path;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << page.text;
    }
    kb::IngestOptions options;
    options.roots = {folder_ + "/skills", folder_ + "/traces"};
    options.threads = 1;
    Check(kb::Ingest(folder_ + "/.kb", options).documents == std::size(kPages));
  }
  ~Index() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string kb_dir() const { return folder_ + "/.kb"; }

 private:
  std::string folder_;
};

constexpr const char* kMethods[] = {
    "tools/call\",\"params\":{\"name\":\"kb_search\",\"arguments\":{",
    "tools/call\",\"params\":{\"name\":\"kb_context\",\"arguments\":{",
    "tools/call\",\"params\":{\"name\":\"kb_get\",\"arguments\":{\"document\":",
    "tools/call\",\"params\":{\"name\":\"kb_trace\",\"arguments\":{\"trace\":",
    "prompts/get\",\"params\":{\"name\":\"write-kernel\",\"arguments\":{",
    "resources/read\",\"params\":{\"uri\":",
    "resources/directory/read\",\"params\":{\"uri\":",
    "skills/get\",\"params\":{\"uri\":",
    "resources/list\",\"params\":{\"cursor\":",
    "server/discover\",\"params\":{\"_meta\":{",
};

// The first byte says which method the rest is made the arguments of, so that the fuzzer gets
// past the envelope; beyond the table the rest is the line.
std::string LineOf(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (size == 0 || data[0] >= std::size(kMethods)) return text.substr(size > 0 ? 1 : 0);
  std::string line =
      std::string(R"({"jsonrpc":"2.0","id":1,"method":")") + kMethods[data[0]] + text.substr(1);
  int open = 0;
  for (const char c : std::string(kMethods[data[0]])) open += c == '{' ? 1 : 0;
  return line + std::string(static_cast<size_t>(open), '}') + "}";
}

bool CheckLine(const std::string& line) {
  Check(line.size() < 200000 && line.find('\n') == line.size() - 1);
  const auto json = kb::ParseJson(line);
  Check(json.has_value() && (*json)["jsonrpc"].AsString() == "2.0");
  if ((*json)["method"].AsString() == "notifications/progress") return false;
  const bool has_error = json->Has("error");
  Check(json->Has("id") && has_error != json->Has("result"));
  Check(!has_error || ((*json)["error"]["code"].IsInt() && (*json)["error"]["message"].IsString()));
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Index index;
  static std::vector<std::string> lines;
  static kb::McpServer server = [] {
    kb::McpServer made(index.kb_dir(), [](std::string line) { lines.push_back(std::move(line)); });
    made.Handle(
        R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}})");
    return made;
  }();
  lines.clear();
  server.Handle(LineOf(data, size));
  for (size_t i = 0; i < lines.size(); ++i) Check(CheckLine(lines[i]) == (i + 1 == lines.size()));
  return 0;
}
